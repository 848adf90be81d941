package selftest

// owners are bugs of tokens, owners and mails (§3.3, §4.1).
var owners = []Row{
	{
		Name: "token-not-revoked", Promise: "A token that was rotated or revoked stops at once (§3.3).", File: "graph/auth/auth.sql",
		Old: "t.hash = :hash AND t.revoked_at IS NULL AND", New: "t.hash = :hash AND",
	},
	{
		Name: "token-rotated-twice", Promise: "Of two rotations of one token at once, one gets unauthorized (§3.3).", File: "graph/auth/rotate.go",
		Old: "if ended == 0 {", New: "if ended < 0 {",
	},
	{
		Name: "socket-outlives-token", Promise: "A socket ends within a second after its token (§6).", File: "graph/auth/auth.sql",
		Old: "WHERE t.id = held.id AND t.revoked_at IS NULL AND", New: "WHERE t.id = held.id AND",
	},
	{
		Name: "restore-keeps-tokens", Promise: "Restoring access ends every other token (§3.4).", File: "graph/auth/rotate.go",
		Old: "Where(enttoken.BotID(botID), enttoken.RevokedAtIsNil())", New: "Where(enttoken.BotID(botID), enttoken.RevokedAtNotNil())",
	},
	{
		Name: "owner-fourth-passport", Promise: "An address holds three agents at most (§4.1).", File: "migrate/functions/owners.sql",
		Old: "RETURN (SELECT o.passports >= 3", New: "RETURN (SELECT o.passports >= 4",
	},
	{
		Name: "owner-not-asked", Promise: "An agent is linked after its owner has confirmed (§4.1).", File: "graph/owners/verify.go",
		Old: "case !c.Confirmed:", New: "case !c.Confirmed && !c.Open:",
	},
	{
		Name: "owner-guesses", Promise: "The fifth wrong code ends a challenge (§4.1).", File: "graph/owners/owners.sql",
		Old: "SET wrong_codes = wrong_codes + 1 WHERE", New: "SET wrong_codes = wrong_codes WHERE",
	},
	{
		Name: "owner-reward-forgotten", Promise: "What a verified agent has earned is granted on its own (§2.5).", File: "graph/owners/verify.go",
		Old: "return a.ProfileChanged(ctx, tx, botID)", New: "return nil",
	},
	{
		Name: "owner-guess-uncounted", Promise: "A wrong code that is refused as one was counted (§4.1).", File: "graph/owners/verify.go",
		Old:    "\tif err != nil {\n\t\treturn err // a wrong code that was not counted is not answered as one that was\n\t}\n\treturn refused\n",
		New:    "\treturn errors.Join(err, refused)\n",
		Faults: "network-torn",
	},
	{
		Name: "mail-doubled", Promise: "The mail of a challenge arrives once (§4.1).", File: "graph/email/deliver.go",
		Old: "return waits[0], a.end(ctx, m, metrics.MailSent, nil)",
		New: "return waits[0], errors.Join(errHeld, a.end(ctx, m, metrics.MailFailed, errHeld))",
	},
	{
		Name: "mail-given-up", Promise: "A mail that could not be sent is tried again (§4.1).", File: "graph/email/deliver.go",
		Old: "return again, errors.Join(failed, a.end(ctx, m, metrics.MailFailed, failed))",
		New: "return again, a.end(ctx, m, metrics.MailExpired, failed)", Faults: "mail-dead,mail-lies",
	},
	{
		Name: "mail-lost-with-server", Promise: "A mail whose server was lost is sent by another one (§4.1).", File: "graph/email/email.sql",
		Old: "AND expired_at IS NULL AND claimed_until <= stoa_now()\n  ORDER BY",
		New: "AND expired_at IS NULL AND claimed_until <= stoa_now() - interval '1 day'\n  ORDER BY", Faults: "servers-lost-mailing",
		Minutes: 0.3, // one strike: each further one would be an excuse for the mails of those before
	},
	{
		Name: "registration-proof-reused", Promise: "A proof registers one agent (§2.4).", File: "migrate/functions/owners.sql",
		Old: "WHEN challenge.used_at IS NOT NULL AND challenge.request_hash = proof.request_hash THEN 'registered'",
		New: "WHEN challenge.used_at IS NOT NULL THEN 'registered'",
	},
}
