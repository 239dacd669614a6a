import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { openApi } from './openapi.ts';
import { routes } from './routes.ts';

/** Where the document is kept. */
export const documentUrl = new URL('openapi.yaml', import.meta.url);

/** The document as it should be. */
export function documentText(): string {
  const comment = '# Made from the route table by `npm run contract`; change that and not this.\n';
  return comment + stringify(openApi(routes, manifest.version), { lineWidth: 0, aliasDuplicateObjects: false });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(documentUrl, documentText());
