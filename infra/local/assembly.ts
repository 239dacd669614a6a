import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject } from './template.ts';

/** What `cdk synth` wrote: one stack's template and the folders of its bundles. */
export interface Assembly {
  stackName: string;
  template: JsonObject;
  /** Object key in the deployment bucket → the folder here that it is made from. */
  assets: Map<string, string>;
}

/**
 * Reads a cloud assembly of one stack.
 *
 * @throws Error when the folder holds no assembly, several stacks, or a stack with errors in its construct tree.
 */
export async function readAssembly(folder: string): Promise<Assembly> {
  const manifest = await readJson(join(folder, 'manifest.json'));
  const artifacts = isObject(manifest.artifacts) ? manifest.artifacts : {};
  const stacks = Object.entries(artifacts).flatMap(([name, artifact]) =>
    isObject(artifact) && artifact.type === 'aws:cloudformation:stack' ? [{ name, artifact }] : [],
  );
  const [stack] = stacks;
  if (!stack || stacks.length > 1) {
    throw new Error(`${folder} holds ${stacks.length} stacks; the local runner runs exactly one`);
  }
  const errors = errorsOf(stack.artifact);
  if (errors.length > 0) throw new Error(`The stack has errors:\n${errors.join('\n')}`);
  const properties = isObject(stack.artifact.properties) ? stack.artifact.properties : {};
  return {
    stackName: stack.name,
    template: await readJson(join(folder, String(properties.templateFile))),
    assets: await readAssets(folder, stack.name),
  };
}

/** `Annotations.addError` and failing validations only mark the construct; the CDK command line is what refuses them. */
function errorsOf(artifact: JsonObject): string[] {
  const metadata = isObject(artifact.metadata) ? artifact.metadata : {};
  return Object.entries(metadata).flatMap(([path, entries]) =>
    (Array.isArray(entries) ? entries : [])
      .filter((entry) => isObject(entry) && entry.type === 'aws:cdk:error')
      .map((entry) => `${path}: ${String(isObject(entry) ? entry.data : entry)}`),
  );
}

async function readAssets(folder: string, stackName: string): Promise<Map<string, string>> {
  const { files } = await readJson(join(folder, `${stackName}.assets.json`));
  const assets = new Map<string, string>();
  for (const file of Object.values(isObject(files) ? files : {})) {
    if (!isObject(file) || !isObject(file.source) || !isObject(file.destinations)) continue;
    for (const destination of Object.values(file.destinations)) {
      if (isObject(destination)) assets.set(String(destination.objectKey), join(folder, String(file.source.path)));
    }
  }
  return assets;
}

async function readJson(file: string): Promise<JsonObject> {
  const json: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isObject(json)) throw new Error(`${file} does not hold a JSON object`);
  return json;
}
