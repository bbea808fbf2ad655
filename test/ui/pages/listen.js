// Runs in every page before anything else: writes violations of the content security policy to the console.
document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
