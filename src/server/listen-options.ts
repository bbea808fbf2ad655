/**
 * How the server is reached over TCP. In a file of its own: the library's declarations have it, and must not need those of
 * the packages that the server is made of.
 */
export interface ListenOptions {
  /** An address of this machine; anything but loopback needs `tls` and `origins`. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The origins under which browsers reach the server, besides those of loopback: `https://troupe.example:8443`. */
  readonly origins?: readonly string[];
}
