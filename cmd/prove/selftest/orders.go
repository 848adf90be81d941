package selftest

// orders are bugs of orders, their idempotency, and ratings (§3.1, §4.7).
var orders = []Row{
	{
		Name: "order-past-version", Promise: "An action on a past version is refused (§3.1).", File: "graph/orders/act.go",
		Old: "if c.expectedVersion != int64(s.Version) {", New: "if v := c.expectedVersion; v != int64(s.Version) && v != int64(s.Version)-1 {",
	},
	{
		Name: "order-lost-update", Promise: "Of two actions on one version of an order one succeeds (§3.1).", File: "graph/orders/orders.sql",
		Old: "WHERE o.id = n.id AND o.version = n.version - 1", New: "WHERE o.id = n.id",
	},
	{
		Name: "order-role", Promise: "Only the contractor starts an order (§3.1).", File: "graph/orders/state.go",
		Old: "{action: Start, who: contractor,", New: "{action: Start, who: either,",
	},
	{
		Name: "order-cancel-funded", Promise: "Only an offer can be cancelled (§3.1).", File: "graph/orders/state.go",
		Old: "{action: Cancel, who: author, from: offered,", New: "{action: Cancel, who: author, from: append(offered, order.StateFunded),",
	},
	{
		Name: "order-own-refund", Promise: "Who has proposed a refund cannot approve it (§3.1).", File: "graph/orders/state.go",
		Old: "return o.RefundProposedBy == nil || *o.RefundProposedBy != caller", New: "return o.RefundProposedBy != &caller",
	},
	{
		Name: "order-second-proposal", Promise: "A refund is proposed once (§3.1).", File: "graph/orders/state.go",
		Old: "takes: reasonPayload, needs: []*guard{noProposal},", New: "takes: reasonPayload,",
	},
	{
		Name: "order-fingerprint", Promise: "Another request under the same operation id is idempotency_conflict (§1.7).",
		File: "graph/orders/idempotent.go",
		Old:  "if !bytes.Equal(kept.Hash, op.hash) {", New: "if !bytes.Equal(kept.Hash[:0], op.hash[:0]) {",
	},
	{
		Name: "order-operation-twice", Promise: "One operation id acts once, also if it is sent twice at once (§1.7).",
		File: "migrate/sql/0001_server.sql",
		Old:  "CREATE UNIQUE INDEX operation_bot_id_operation_id", New: "CREATE INDEX operation_bot_id_operation_id",
	},
	{
		Name: "order-replay-differs", Promise: "A repeat has the first answer, byte for byte (§1.7).", File: "graph/orders/idempotent.go",
		Old: "r := &OrderResult{Replay: wire.Replayed(), body: kept.Result}",
		New: "r := &OrderResult{Replay: wire.Replayed(), body: bytes.Replace(kept.Result, []byte(`\"actions\":[{`), []byte(`\"actions\":[],\"next\":[{`), 1)}",
	},
	{
		Name: "order-shown-to-others", Promise: "Only its two sides read an order (§4.7).", File: "graph/orders/orders.sql",
		Old: "SELECT o.* FROM stoa_order_cards o WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id);",
		New: "SELECT o.* FROM stoa_order_cards o WHERE o.id = :order_id AND :caller::uuid IS NOT NULL;",
	},
	{
		Name: "draft-reply-race", Promise: "A draft gets one reply, also if two come at once (§2.11).", File: "graph/drafts/drafts.sql",
		Old: "(o.customer_id, o.contractor_id) FOR NO KEY UPDATE;", New: "(o.customer_id, o.contractor_id);",
	},
	{
		Name: "rating-early", Promise: "Only a closed order is rated (§4.7).", File: "graph/ratings/rate.go",
		Old: "case !s.Closed:", New: "case !s.Closed && s.Rated:",
	},
	{
		Name: "rating-twice", Promise: "Each side rates an order once (§4.7).", File: "migrate/sql/0014_ratings.sql",
		Old: "CREATE UNIQUE INDEX rating_order_id_author_id", New: "CREATE INDEX rating_order_id_author_id",
	},
	{
		Name: "rating-fingerprint", Promise: "Another rating under the same operation id is idempotency_conflict (§1.7).",
		File: "graph/ratings/rate.go",
		Old:  "if !bytes.Equal(s.Hash, r.hash) {", New: "if !bytes.Equal(s.Hash[:0], r.hash[:0]) {",
	},
	{
		Name: "rating-event-to-author", Promise: "The agent that was rated gets the event (§6).", File: "graph/ratings/rate.go",
		Old: "Recipient: rated.SubjectID, Kind: events.OrderRated,", New: "Recipient: callerID, Kind: events.OrderRated,",
	},
}

// money are bugs of the ledger (§2.5).
var money = []Row{
	{
		Name: "money-not-held", Promise: "Accepting an order reserves its price (§2.5).", File: "graph/orders/state.go",
		Old: "money: hold, apply: setFunded,", New: "apply: setFunded,",
	},
	{
		Name: "money-fee-twice", Promise: "The contractor is paid the amount of the order (§2.5).", File: "graph/wallet/ledger.go",
		Old: "{BotID: e.ContractorID, Account: Available, DeltaMinor: e.AmountMinor},\n\t}",
		New: "{BotID: e.ContractorID, Account: Available, DeltaMinor: e.AmountMinor - e.FeeMinor},\n\t\t{Account: Fees, DeltaMinor: e.FeeMinor},\n\t}",
	},
	{
		Name: "money-refund-without-fee", Promise: "A refund returns the whole price (§2.5).", File: "graph/wallet/ledger.go",
		Old: "Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},\n\t\tPosting{BotID: e.CustomerID, Account: Available, DeltaMinor: e.Total()})",
		New: "Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.AmountMinor},\n\t\tPosting{BotID: e.CustomerID, Account: Available, DeltaMinor: e.AmountMinor})",
	},
	{
		Name: "money-lost-update", Promise: "Balances are the sums of their entries, also of those at once (§2.5).",
		File: "migrate/functions/wallet.sql",
		Old:  "WHERE a.bot_id = ANY (owners) ORDER BY a.id FOR UPDATE LOOP", New: "WHERE a.bot_id = ANY (owners) ORDER BY a.id LOOP",
	},
	{
		Name: "wallet-page-skips", Promise: "The pages of a wallet's history have every entry (§2.5).", File: "graph/wallet/wallet.sql",
		Old: "AND number < :before ORDER BY", New: "AND number + 1 < :before ORDER BY",
	},
	{
		Name: "money-overdrawn", Promise: "An agent without the money cannot accept an order (§2.5).", File: "migrate/sql/0004_wallet.sql",
		Old: "CHECK (available_minor >= 0)", New: "CHECK (available_minor > -1000000000)",
	},
	{
		Name: "reward-race", Promise: "A reward is granted once, also if two servers find it at once (§2.5).", File: "graph/wallet/rewards.sql",
		Old: "ON CONFLICT (bot_id, ground) DO NOTHING", New: "ON CONFLICT (bot_id, ground) DO UPDATE SET amount_minor = excluded.amount_minor",
	},
	{
		Name: "reward-incomplete", Promise: "Only a complete profile is rewarded as that (§2.5).", File: "migrate/functions/onboarding.sql",
		Old: "ARRAY['display_name', 'specialty', 'bio', 'profile_public', 'public_portfolio_post']", New: "ARRAY['display_name', 'bio']",
	},
	{
		Name: "reward-unverified", Promise: "Only an agent with a verified owner is rewarded (§2.5).", File: "migrate/functions/onboarding.sql",
		Old: "CASE WHEN b.email_verified_at IS NULL THEN 'email_unverified' END,", New: "NULL,",
	},
}
