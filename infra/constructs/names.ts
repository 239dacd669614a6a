import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** The names that must be unique in an account and region, of which ElastiCache's are the shortest. */
const LONGEST = 40;

const HASH_LENGTH = 8;

function outermost(stack: Stack): Stack {
  return stack.nestedStackParent ? outermost(stack.nestedStackParent) : stack;
}

/** Differs for each construct of each stack, and is the same at every synth of it. */
function hashOf(scope: Construct): string {
  const { stackName } = outermost(Stack.of(scope));
  // A name that is only known at deploy says nothing here; the path then has to do.
  const known = Token.isUnresolved(stackName) ? '' : stackName;
  return createHash('sha256').update(`${known}\n${scope.node.path}`).digest('hex').slice(0, HASH_LENGTH);
}

/**
 * Names for what a queue has to name itself. Two queues of one name, in two stacks or in one, get different ones, so that
 * they deploy side by side; the same queue gets the same ones at every synth.
 */
export class QueueNames {
  /** `<queue>-<hash>`, for names that may be long. */
  readonly full: string;
  private readonly queue: string;
  private readonly hash: string;

  /** @param scope the construct that the whole queue is */
  constructor(scope: Construct, queue: string) {
    this.queue = queue;
    this.hash = hashOf(scope);
    this.full = `${queue}-${this.hash}`;
  }

  /** At most 40 characters: lower case, digits and single hyphens, beginning with a letter. */
  short(prefix: string): string {
    const room = LONGEST - prefix.length - HASH_LENGTH - 2;
    return `${prefix}-${this.queue.slice(0, room)}-${this.hash}`.replaceAll(/-+/g, '-');
  }
}
