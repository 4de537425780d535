// Cloudflare's operations as the client's types know them: what a call may say and what answers it. Read by `facts.ts`,
// which never runs it. What stands here is only which type belongs where; the types are the client's.
import type { V4PagePaginationArrayResponse } from 'cloudflare/core/pagination';
import type * as Accounts from 'cloudflare/resources/accounts/accounts';
import type * as AccountGroups from 'cloudflare/resources/accounts/tokens/permission-groups';
import type * as AccountTokens from 'cloudflare/resources/accounts/tokens/tokens';
import type * as Cache from 'cloudflare/resources/cache/cache';
import type * as Records from 'cloudflare/resources/dns/records';
import type * as AccountUsage from 'cloudflare/resources/dns/usage/account';
import type * as ZoneUsage from 'cloudflare/resources/dns/usage/zone';
import type * as Memberships from 'cloudflare/resources/memberships/memberships';
import type * as Shared from 'cloudflare/resources/shared';
import type * as User from 'cloudflare/resources/user/user';
import type * as UserGroups from 'cloudflare/resources/user/tokens/permission-groups';
import type * as UserTokens from 'cloudflare/resources/user/tokens/tokens';
import type * as Activation from 'cloudflare/resources/zones/activation-check';
import type * as Holds from 'cloudflare/resources/zones/holds';
import type * as Subscriptions from 'cloudflare/resources/zones/subscriptions';
import type * as Zones from 'cloudflare/resources/zones/zones';
import type * as Cloudflared from 'cloudflare/resources/zero-trust/tunnels/cloudflared/cloudflared';
import type * as Configurations from 'cloudflare/resources/zero-trust/tunnels/cloudflared/configurations';
import type * as Connections from 'cloudflare/resources/zero-trust/tunnels/cloudflared/connections';
import type * as Management from 'cloudflare/resources/zero-trust/tunnels/cloudflared/management';
import type * as TunnelToken from 'cloudflare/resources/zero-trust/tunnels/cloudflared/token';
import type * as Tunnels from 'cloudflare/resources/zero-trust/tunnels/tunnels';

/** The parameters of a call without those that stand in its path or its query; of a union, in each of its types. */
type Without<Params, Names extends PropertyKey> = Params extends unknown ? Omit<Params, Names> : never;

interface Single<Result> {
  success: boolean;
  errors: Shared.ResponseInfo[];
  messages: Shared.ResponseInfo[];
  result: Result;
}
interface Many<Item> extends Single<Item[]> {
  result_info?: object;
}
interface Page<Item> extends Single<Item[]> {
  result_info: V4PagePaginationArrayResponse.ResultInfo;
}
interface Refusal {
  success: boolean;
  errors: Shared.ErrorData[];
  messages: Shared.ResponseInfo[];
  result: null;
}

type InZone = 'zone_id';
type InAccount = 'account_id';

/** `answer` is that of a call that succeeds; `query` and `body` stand where the client sends some. */
export interface Operations {
  'GET /user/tokens/verify': { answer: Single<UserTokens.TokenVerifyResponse> };
  'GET /user/tokens/permission_groups': {
    query: UserGroups.PermissionGroupListParams;
    answer: Many<UserGroups.PermissionGroupListResponse>;
  };
  'GET /user/tokens': { query: UserTokens.TokenListParams; answer: Page<Shared.Token> };
  'POST /user/tokens': { body: UserTokens.TokenCreateParams; answer: Single<UserTokens.TokenCreateResponse> };
  'GET /user/tokens/{}': { answer: Single<Shared.Token> };
  'PUT /user/tokens/{}': { body: UserTokens.TokenUpdateParams; answer: Single<Shared.Token> };
  'DELETE /user/tokens/{}': { answer: Single<UserTokens.TokenDeleteResponse> };
  'PUT /user/tokens/{}/value': { answer: Single<Shared.TokenValue> };
  'GET /user': { answer: Single<User.UserGetResponse> };
  'GET /memberships': { query: Memberships.MembershipListParams; answer: Page<Memberships.Membership> };
  'GET /accounts': { query: Accounts.AccountListParams; answer: Page<Accounts.Account> };
  'POST /accounts': { body: Accounts.AccountCreateParams; answer: Single<Accounts.Account> };
  'GET /accounts/{}': { answer: Single<Accounts.Account> };
  'PUT /accounts/{}': { body: Without<Accounts.AccountUpdateParams, InAccount>; answer: Single<Accounts.Account> };
  'DELETE /accounts/{}': { answer: Single<Accounts.AccountDeleteResponse> };
  'GET /accounts/{}/tokens/verify': { answer: Single<AccountTokens.TokenVerifyResponse> };
  'GET /accounts/{}/tokens/permission_groups': {
    query: Without<AccountGroups.PermissionGroupGetParams, InAccount>;
    answer: Many<AccountGroups.PermissionGroupListResponse>;
  };
  'GET /accounts/{}/tokens': {
    query: Without<AccountTokens.TokenListParams, InAccount>;
    answer: Page<Shared.Token>;
  };
  'POST /accounts/{}/tokens': {
    body: Without<AccountTokens.TokenCreateParams, InAccount>;
    answer: Single<AccountTokens.TokenCreateResponse>;
  };
  'GET /accounts/{}/tokens/{}': { answer: Single<Shared.Token> };
  'PUT /accounts/{}/tokens/{}': {
    body: Without<AccountTokens.TokenUpdateParams, InAccount>;
    answer: Single<Shared.Token>;
  };
  'DELETE /accounts/{}/tokens/{}': { answer: Single<AccountTokens.TokenDeleteResponse> };
  'PUT /accounts/{}/tokens/{}/value': { answer: Single<Shared.TokenValue> };
  'GET /accounts/{}/dns_records/usage': { answer: Single<AccountUsage.AccountGetResponse> };
  'GET /zones': { query: Zones.ZoneListParams; answer: Page<Zones.Zone> };
  'POST /zones': { body: Zones.ZoneCreateParams; answer: Single<Zones.Zone> };
  'GET /zones/{}': { answer: Single<Zones.Zone> };
  'PATCH /zones/{}': { body: Without<Zones.ZoneEditParams, InZone>; answer: Single<Zones.Zone> };
  'DELETE /zones/{}': { answer: Single<Zones.ZoneDeleteResponse> };
  'PUT /zones/{}/activation_check': { answer: Single<Activation.ActivationCheckTriggerResponse> };
  'GET /zones/{}/subscription': { answer: Single<Subscriptions.SubscriptionGetResponse> };
  'POST /zones/{}/subscription': {
    body: Without<Subscriptions.SubscriptionCreateParams, InZone>;
    answer: Single<Subscriptions.SubscriptionCreateResponse>;
  };
  'PUT /zones/{}/subscription': {
    body: Without<Subscriptions.SubscriptionUpdateParams, InZone>;
    answer: Single<Subscriptions.SubscriptionUpdateResponse>;
  };
  'GET /zones/{}/hold': { answer: Single<Holds.ZoneHold> };
  'POST /zones/{}/hold': { query: Without<Holds.HoldCreateParams, InZone>; answer: Single<Holds.ZoneHold> };
  'PATCH /zones/{}/hold': { body: Without<Holds.HoldEditParams, InZone>; answer: Single<Holds.ZoneHold> };
  'DELETE /zones/{}/hold': { query: Without<Holds.HoldDeleteParams, InZone>; answer: Single<Holds.ZoneHold> };
  'POST /zones/{}/purge_cache': {
    body: Without<Cache.CachePurgeParams, InZone>;
    answer: Single<Cache.CachePurgeResponse>;
  };
  'GET /zones/{}/dns_records': { query: Without<Records.RecordListParams, InZone>; answer: Page<Records.RecordResponse> };
  'POST /zones/{}/dns_records': {
    query: Pick<Records.RecordListParams, 'include_shadow_metadata'>;
    body: Without<Records.RecordCreateParams, InZone | 'include_shadow_metadata'>;
    answer: Single<Records.RecordResponse>;
  };
  'GET /zones/{}/dns_records/{}': {
    query: Without<Records.RecordGetParams, InZone>;
    answer: Single<Records.RecordResponse>;
  };
  'PUT /zones/{}/dns_records/{}': {
    query: Pick<Records.RecordListParams, 'include_shadow_metadata'>;
    body: Without<Records.RecordUpdateParams, InZone | 'include_shadow_metadata'>;
    answer: Single<Records.RecordResponse>;
  };
  'PATCH /zones/{}/dns_records/{}': {
    query: Pick<Records.RecordListParams, 'include_shadow_metadata'>;
    body: Without<Records.RecordEditParams, InZone | 'include_shadow_metadata'>;
    answer: Single<Records.RecordResponse>;
  };
  'DELETE /zones/{}/dns_records/{}': { answer: Single<Records.RecordDeleteResponse> };
  'POST /zones/{}/dns_records/batch': {
    query: Pick<Records.RecordBatchParams, 'include_shadow_metadata'>;
    body: Without<Records.RecordBatchParams, InZone | 'include_shadow_metadata'>;
    answer: Single<Records.RecordBatchResponse>;
  };
  'POST /zones/{}/dns_records/import': { answer: Single<Records.RecordImportResponse> };
  'POST /zones/{}/dns_records/scan': { answer: Single<Records.RecordScanResponse> };
  'POST /zones/{}/dns_records/scan/trigger': { answer: Records.RecordScanTriggerResponse };
  'GET /zones/{}/dns_records/scan/review': { answer: Many<Records.RecordResponse> };
  'POST /zones/{}/dns_records/scan/review': {
    body: Without<Records.RecordScanReviewParams, InZone>;
    answer: Single<Records.RecordScanReviewResponse>;
  };
  'GET /zones/{}/dns_records/usage': { answer: Single<ZoneUsage.ZoneGetResponse> };
  'GET /accounts/{}/tunnels': {
    query: Without<Tunnels.TunnelListParams, InAccount>;
    answer: Page<Tunnels.TunnelListResponse>;
  };
  'GET /accounts/{}/cfd_tunnel': {
    query: Without<Cloudflared.CloudflaredListParams, InAccount>;
    answer: Page<Shared.CloudflareTunnel>;
  };
  'POST /accounts/{}/cfd_tunnel': {
    body: Without<Cloudflared.CloudflaredCreateParams, InAccount>;
    answer: Single<Shared.CloudflareTunnel>;
  };
  'GET /accounts/{}/cfd_tunnel/{}': { answer: Single<Shared.CloudflareTunnel> };
  'PATCH /accounts/{}/cfd_tunnel/{}': {
    body: Without<Cloudflared.CloudflaredEditParams, InAccount>;
    answer: Single<Shared.CloudflareTunnel>;
  };
  'DELETE /accounts/{}/cfd_tunnel/{}': { answer: Single<Shared.CloudflareTunnel> };
  'GET /accounts/{}/cfd_tunnel/{}/connections': { answer: Many<Connections.Client> };
  'DELETE /accounts/{}/cfd_tunnel/{}/connections': {
    query: Without<Connections.ConnectionDeleteParams, InAccount>;
    answer: Single<Connections.ConnectionDeleteResponse>;
  };
  'GET /accounts/{}/cfd_tunnel/{}/connectors/{}': { answer: Single<Connections.Client> };
  'GET /accounts/{}/cfd_tunnel/{}/token': { answer: Single<TunnelToken.TokenGetResponse> };
  'POST /accounts/{}/cfd_tunnel/{}/management': {
    body: Without<Management.ManagementCreateParams, InAccount>;
    answer: Single<Management.ManagementCreateResponse>;
  };
  'GET /accounts/{}/cfd_tunnel/{}/configurations': { answer: Single<Configurations.ConfigurationGetResponse> };
  'PUT /accounts/{}/cfd_tunnel/{}/configurations': {
    body: Without<Configurations.ConfigurationUpdateParams, InAccount>;
    answer: Single<Configurations.ConfigurationUpdateResponse>;
  };
  /** What every operation answers that refuses. */
  refusal: { answer: Refusal };
}
