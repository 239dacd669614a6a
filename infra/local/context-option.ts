import { InvalidArgumentError, Option } from 'commander';

/** `-c key=value`, as the command line of the CDK has it. */
export const contextOption = (): Option =>
  new Option('-c, --context <key=value>', 'a setting, such as rota.plans.free.maxDepth=10 (repeatable)')
    .default({}, 'none')
    .argParser(addContext);

function addContext(text: string, context: Record<string, string>): Record<string, string> {
  const [key = '', ...value] = text.split('=');
  if (key === '' || value.length === 0) throw new InvalidArgumentError('It must be key=value.');
  return { ...context, [key]: value.join('=') };
}
