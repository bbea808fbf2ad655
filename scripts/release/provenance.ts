/** What a release was made from. */
export interface Made {
  readonly version: string;
  readonly commit: string;
  /** SHA-256 of the lock file, which pins all that the build uses. */
  readonly lock: string;
  readonly node: string;
  readonly npm: string;
  readonly platform: string;
  readonly command: string;
  readonly startedOn: string;
  readonly finishedOn: string;
  readonly isDry: boolean;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

/**
 * An in-toto statement with a SLSA predicate: which files were made from which commit, with which tools. It is not
 * signed, so it proves nothing to somebody who does not trust its source.
 */
export function writeProvenance(made: Made): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: made.files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:troupe:release:1',
        externalParameters: { version: made.version, command: made.command, dryRun: made.isDry },
        internalParameters: { node: made.node, npm: made.npm, platform: made.platform },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: made.commit } },
          { name: 'package-lock.json', digest: { sha256: made.lock } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:troupe:release:local' },
        metadata: { startedOn: made.startedOn, finishedOn: made.finishedOn },
      },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
