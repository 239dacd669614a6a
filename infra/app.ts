import { App } from 'aws-cdk-lib';
import { SettingsError } from '../functions/lib/config/faults.ts';
import { parseSettings } from '../functions/lib/config/parse.ts';
import { RotaStack } from './rota-stack.ts';
import { addRulePacks } from './rules.ts';

const app = new App();
try {
  // The local runner sets this key: on one machine jobs reach their hosts without the network that the stack describes.
  const local = app.node.tryGetContext('rota:local') === 'true';
  const settings = parseSettings(app.node.getAllContext(), { local, alone: true });
  // No `env`: with one, the network would ask an account for its zones, and synth would need credentials.
  if (!local) addRulePacks(app);
  new RotaStack(app, 'Rota', { settings, stackName: `rota-${settings.queue}` });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
