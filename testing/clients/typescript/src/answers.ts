// The answers that came, and which type of the client each of them must fit.
import type * as Accounts from 'cloudflare/resources/accounts/accounts';
import type * as AccountTokens from 'cloudflare/resources/accounts/tokens/tokens';
import type * as Records from 'cloudflare/resources/dns/records';
import type * as ZoneUsage from 'cloudflare/resources/dns/usage/zone';
import type * as Shared from 'cloudflare/resources/shared';
import type * as UserTokens from 'cloudflare/resources/user/tokens/tokens';
import type * as Holds from 'cloudflare/resources/zones/holds';
import type * as Subscriptions from 'cloudflare/resources/zones/subscriptions';
import type * as Zones from 'cloudflare/resources/zones/zones';
import type * as Configurations from 'cloudflare/resources/zero-trust/tunnels/cloudflared/configurations';
import type * as Connections from 'cloudflare/resources/zero-trust/tunnels/cloudflared/connections';
import type * as TunnelToken from 'cloudflare/resources/zero-trust/tunnels/cloudflared/token';

/** The type of `result`, for each route that is called; `errors` is that of a refusal. Read by `types.ts`. */
export interface Answers {
  'GET /user/tokens/verify': UserTokens.TokenVerifyResponse;
  'GET /accounts/{}/tokens/verify': AccountTokens.TokenVerifyResponse;
  'GET /accounts': Accounts.Account[];
  'GET /accounts/{}': Accounts.Account;
  'GET /zones': Zones.Zone[];
  'POST /zones': Zones.Zone;
  'GET /zones/{}': Zones.Zone;
  'PATCH /zones/{}': Zones.Zone;
  'DELETE /zones/{}': Zones.ZoneDeleteResponse;
  'GET /zones/{}/dns_records/usage': ZoneUsage.ZoneGetResponse;
  'GET /zones/{}/subscription': Subscriptions.SubscriptionGetResponse;
  'GET /zones/{}/hold': Holds.ZoneHold;
  'GET /zones/{}/dns_records': Records.RecordResponse[];
  'POST /zones/{}/dns_records': Records.RecordResponse;
  'GET /zones/{}/dns_records/{}': Records.RecordResponse;
  'PATCH /zones/{}/dns_records/{}': Records.RecordResponse;
  'PUT /zones/{}/dns_records/{}': Records.RecordResponse;
  'DELETE /zones/{}/dns_records/{}': Records.RecordDeleteResponse;
  'POST /zones/{}/dns_records/batch': Records.RecordBatchResponse;
  'POST /zones/{}/dns_records/import': Records.RecordImportResponse;
  'GET /accounts/{}/cfd_tunnel': Shared.CloudflareTunnel[];
  'POST /accounts/{}/cfd_tunnel': Shared.CloudflareTunnel;
  'GET /accounts/{}/cfd_tunnel/{}': Shared.CloudflareTunnel;
  'PATCH /accounts/{}/cfd_tunnel/{}': Shared.CloudflareTunnel;
  'DELETE /accounts/{}/cfd_tunnel/{}': Shared.CloudflareTunnel;
  'GET /accounts/{}/cfd_tunnel/{}/token': TunnelToken.TokenGetResponse;
  'GET /accounts/{}/cfd_tunnel/{}/connections': Connections.Client[];
  'DELETE /accounts/{}/cfd_tunnel/{}/connections': Connections.ConnectionDeleteResponse;
  'GET /accounts/{}/cfd_tunnel/{}/connectors/{}': Connections.Client;
  'GET /accounts/{}/cfd_tunnel/{}/configurations': Configurations.ConfigurationGetResponse;
  'PUT /accounts/{}/cfd_tunnel/{}/configurations': Configurations.ConfigurationUpdateResponse;
  errors: Shared.ErrorData[];
}

/** The two forms of identifiers: hexadecimal digits, and UUIDs. */
const identifier = /\b([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;

/** One answer's part that has a type. */
export interface Noted {
  route: string;
  value: unknown;
}
export const noted: Noted[] = [];

export function note(method: string, url: string, answer: Response, text: string): void {
  if (!answer.headers.get('content-type')?.startsWith('application/json')) return;
  const body = JSON.parse(text);
  if (body.errors?.length > 0) noted.push({ route: 'errors', value: body.errors });
  if (!answer.ok) return;
  const path = new URL(url).pathname.replace(/^\/client\/v4/, '').replace(identifier, '{}');
  noted.push({ route: `${method.toUpperCase()} ${path}`, value: body.result });
}
