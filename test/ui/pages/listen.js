// Runs in every page before anything else: what the policy forbids must be heard, and the console is how it gets out.
document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
