import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accessKeyIdOf, headerOf, refuse } from './aws-request.ts';
import { readBody } from './http-server.ts';
import type { LambdaService } from './lambda-service.ts';
import { isObject, type JsonObject, type Template, textOf } from './template.ts';

const REFERENCE = /^\{\{resolve:secretsmanager:(arn:.+?):SecretString:([^:}]*):?:?\}\}$/;
const LARGEST_REQUEST_BYTES = 65_536;
const GET = 'secretsmanager.GetSecretValue';

/** The secrets that the template has Secrets Manager make up, each with a value of this run. */
export class Secrets {
  readonly #values = new Map<string, string>();

  constructor(template: Template) {
    for (const { id, properties } of template.resources('AWS::SecretsManager::Secret')) {
      const generated = isObject(properties.GenerateSecretString) ? properties.GenerateSecretString : {};
      this.put(template.secretArn(id), JSON.stringify(made(generated)));
    }
  }

  /** The text of a secret; undefined when there is none of that ARN. */
  get(arn: string): string | undefined {
    return this.#values.get(arn);
  }

  put(arn: string, text: string): void {
    this.#values.set(arn, text);
  }

  /**
   * What a deploy puts in the place of a dynamic reference to a field of one of these secrets; other text stays as it is.
   *
   * @throws Error naming a secret or field that there is not.
   */
  resolve(text: string): string {
    const [, arn = '', field = ''] = REFERENCE.exec(text) ?? [];
    if (arn === '') return text;
    const secret: unknown = JSON.parse(this.get(arn) ?? 'null');
    if (!isObject(secret) || !(field in secret)) throw new Error(`There is no field ${field} of a secret ${arn}`);
    return textOf(secret[field]);
  }
}

/** Letters and digits of the length that is asked for, which every rule of a password of Redis takes. */
function made({ SecretStringTemplate, GenerateStringKey, PasswordLength }: JsonObject): JsonObject {
  const fixed: unknown = JSON.parse(textOf(SecretStringTemplate) || '{}');
  const password = randomBytes(128)
    .toString('hex')
    .slice(0, Number(PasswordLength ?? 32));
  return { ...(isObject(fixed) && fixed), [textOf(GenerateStringKey) || 'password']: password };
}

/** Whether a request is for Secrets Manager: the protocols of AWS tell services apart by header as well as by host. */
export const isSecretsRequest = (request: IncomingMessage): boolean =>
  headerOf(request, 'x-amz-target')?.startsWith('secretsmanager.') ?? false;

/** GetSecretValue, as the AWS SDKs and the `aws` command line ask for it. */
export function secretsApi(secrets: Secrets, lambda: LambdaService) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = headerOf(request, 'x-amz-target');
    if (target !== GET) return refuse(response, 400, 'UnknownOperationException', { Message: `There is only ${GET}` });
    const body: unknown = JSON.parse(String((await readBody(request, LARGEST_REQUEST_BYTES)) ?? '{}'));
    const arn = isObject(body) ? textOf(body.SecretId) : '';
    const refusal = await lambda.refusal(accessKeyIdOf(request), 'secretsmanager:GetSecretValue', arn);
    if (refusal) return refuse(response, 400, 'AccessDeniedException', { Message: refusal });
    const text = secrets.get(arn);
    if (text === undefined) {
      const message = "Secrets Manager can't find the specified secret.";
      return refuse(response, 400, 'ResourceNotFoundException', { Message: message });
    }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ ARN: arn, SecretString: text }));
  };
}
