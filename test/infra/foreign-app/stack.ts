import { join } from 'node:path';
import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { FairQueue } from 'rota';

interface GalleryProps extends StackProps {
  /** Who issues the tokens of this app's users. */
  readonly issuer: string;
}

/** A stack of somebody else: a network and a bucket of its own, and two queues, one of them with its own job types. */
export class GalleryStack extends Stack {
  readonly bucket: s3.Bucket;
  readonly images: FairQueue;
  readonly mail: FairQueue;
  readonly backOffice: iam.Role;

  constructor(scope: Construct, id: string, { issuer, ...props }: GalleryProps) {
    super(scope, id, props);
    const vpc = new ec2.Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [
        { name: 'Public', subnetType: ec2.SubnetType.PUBLIC },
        { name: 'Data', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
        { name: 'Work', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
      ],
    });
    this.bucket = new s3.Bucket(this, 'Images', {
      enforceSSL: true,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.images = new FairQueue(this, 'ImageQueue', {
      settings: {
        queue: 'images',
        plans: { studio: { weight: 5, maxDepth: 20_000 }, free: { weight: 1, maxDepth: 200 } },
        capacity: 8,
        auth: { api: 'jwt', jwt: { issuer, audience: ['gallery'], tenantClaim: 'account' } },
      },
      vpc,
      vpcSubnets: { cache: { subnetGroupName: 'Data' }, functions: { subnetGroupName: 'Work' } },
      processor: {
        entry: join(import.meta.dirname, 'jobs/index.ts'),
        environment: { BUCKET: this.bucket.bucketName },
      },
    });
    this.bucket.grantReadWrite(this.images);

    this.mail = new FairQueue(this, 'MailQueue', {
      settings: { queue: 'mail', reserveConcurrency: false, endpoint: 'existing' },
      vpc,
    });
    this.backOffice = new iam.Role(this, 'BackOffice', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com'),
    });
    this.images.grantEnqueue(this.backOffice);
    this.mail.grantEnqueue(this.backOffice);
    this.mail.producerRole('Partner', { accounts: ['111122223333'], externalId: 'gallery' });
    new CfnOutput(this, 'ImagesApi', { value: this.images.api.url });
  }
}
