/** The variables by which programs find a proxy on this port; without one, they find none. */
export function proxyVariables(port: number | undefined): Record<string, string> {
  if (port === undefined) return { HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '' };
  const url = `http://127.0.0.1:${port}`;
  const own = 'localhost,127.0.0.1,::1';
  // Node ignores the variables above without this one.
  const node = { NODE_USE_ENV_PROXY: '1' };
  return {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NO_PROXY: own,
    no_proxy: own,
    ...node,
  };
}
