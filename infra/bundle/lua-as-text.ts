import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Lets plain Node import `.lua` files as text, as the bundles have them: `node --import ./infra/bundle/lua-as-text.ts`. */
registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.lua')) return nextLoad(url, context);
    const source = `export default ${JSON.stringify(readFileSync(fileURLToPath(url), 'utf8'))}`;
    return { format: 'module', source, shortCircuit: true };
  },
});
