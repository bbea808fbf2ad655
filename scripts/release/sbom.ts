import { createHash } from 'node:crypto';

/** A package that users get: beside the program, or inside of it. */
export interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** As the lock file has it: `sha512-BASE64`. */
  readonly integrity?: string | undefined;
  /** It is part of the files of the package, because the build put it there. */
  readonly bundled: boolean;
}

/** The packages that a build put into the program, from the titles of its license texts: `## name - 1.2.3 (MIT)`. */
export function readBundled(licenses: string): Pick<Shipped, 'name' | 'version' | 'license'>[] {
  return [...licenses.matchAll(/^## (\S+) - (\d\S*) \((.+)\)$/gm)].map(([, name = '', version = '', license = '']) => ({
    name,
    version,
    license,
  }));
}

/** A software bill of materials, as CycloneDX 1.6. The same input gives the same text. */
export function writeSbom(
  { name, version, license }: { name: string; version: string; license: string },
  { packages, at }: { packages: readonly Shipped[]; at: string },
): string {
  const self = purl(name, version);
  const components = packages
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((one) => ({
      type: 'library',
      'bom-ref': purl(one.name, one.version),
      name: one.name,
      version: one.version,
      purl: purl(one.name, one.version),
      licenses: [licenseOf(one.license)],
      ...(one.integrity !== undefined && { hashes: [hashOf(one.integrity)] }),
      properties: [{ name: 'troupe:bundled', value: String(one.bundled) }],
    }));
  const digest = createHash('sha256')
    .update(JSON.stringify([self, components]))
    .digest('hex');
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: {
      timestamp: at,
      component: { type: 'application', 'bom-ref': self, name, version, purl: self, licenses: [licenseOf(license)] },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((one) => one['bom-ref']) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** An identifier of SPDX, or an expression of several. */
function licenseOf(license: string): object {
  return /\s/.test(license) ? { expression: license.replaceAll(/[()]/g, '') } : { license: { id: license } };
}

function hashOf(integrity: string): object {
  const [algorithm = '', content = ''] = integrity.split('-', 2);
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(content, 'base64').toString('hex') };
}

/** A UUID of version 8, which is made from anything. */
function uuidOf(hex: string): string {
  const part = (from: number, to: number): string => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}
