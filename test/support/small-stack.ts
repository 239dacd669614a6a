import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A function of a hand-made stack: its source as an ES module, and what differs from a plain function. */
interface SmallFunction {
  source: string;
  properties?: Record<string, unknown>;
  /** Functions that its role may invoke. */
  mayInvoke?: string[];
  /** Properties of an AWS::Lambda::EventInvokeConfig. */
  events?: Record<string, unknown>;
  /** Whether the HTTP API may invoke it. */
  servesApi?: boolean;
}

export interface SmallStack {
  functions: Record<string, SmallFunction>;
  /** Further resources by logical id. Function `x` has the logical ids `x`, `xRole` and `xIntegration`. */
  resources?: Record<string, unknown>;
}

/** Writes a cloud assembly as `cdk synth` does, for tests of the runner that need functions the product does not have. */
export async function writeSmallStack(stack: SmallStack): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'rota-stack-'));
  const resources: Record<string, unknown> = { ...stack.resources };
  const files: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(stack.functions)) {
    await mkdir(join(folder, `asset.${name}`));
    await writeFile(join(folder, `asset.${name}`, 'index.mjs'), declared.source);
    files[name] = { source: { path: `asset.${name}` }, destinations: { here: { objectKey: `${name}.zip` } } };
    Object.assign(resources, resourcesOf(name, declared));
  }
  const write = async (file: string, json: unknown) => await writeFile(join(folder, file), JSON.stringify(json));
  await write('Small.template.json', { Resources: resources });
  await write('Small.assets.json', { files });
  await write('manifest.json', {
    artifacts: { Small: { type: 'aws:cloudformation:stack', properties: { templateFile: 'Small.template.json' } } },
  });
  return { folder, remove: async () => await rm(folder, { recursive: true, force: true }) };
}

function resourcesOf(name: string, declared: SmallFunction): Record<string, unknown> {
  const { properties, mayInvoke = [], events, servesApi } = declared;
  const statements = [
    { Effect: 'Allow', Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: 'arn:aws:logs:*:*:*' },
    ...mayInvoke.map((target) => ({
      Effect: 'Allow',
      Action: 'lambda:InvokeFunction',
      Resource: { 'Fn::GetAtt': [target, 'Arn'] },
    })),
  ];
  return {
    [name]: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        FunctionName: name,
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Role: { 'Fn::GetAtt': [`${name}Role`, 'Arn'] },
        Code: { S3Bucket: 'assets', S3Key: `${name}.zip` },
        ...properties,
      },
    },
    [`${name}Role`]: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Statement: { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
        },
        Policies: [{ PolicyName: 'own', PolicyDocument: { Statement: statements } }],
      },
    },
    [`${name}Integration`]: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': [name, 'Arn'] },
        PayloadFormatVersion: '2.0',
      },
    },
    ...(events && {
      [`${name}Events`]: {
        Type: 'AWS::Lambda::EventInvokeConfig',
        Properties: { FunctionName: { Ref: name }, Qualifier: '$LATEST', ...events },
      },
    }),
    ...(servesApi && {
      [`${name}Permission`]: {
        Type: 'AWS::Lambda::Permission',
        Properties: {
          FunctionName: { Ref: name },
          Principal: 'apigateway.amazonaws.com',
          Action: 'lambda:InvokeFunction',
        },
      },
    }),
  };
}
