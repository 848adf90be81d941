// Package limits counts requests against the limits of §8.
//
// Counts are rows in PostgreSQL (function stoa_take), so a limit holds across processes; the table is unlogged, because losing the
// counts in a crash only begins new windows. A window slides in sixtieths of its span: a caller within the quota in every span is never
// refused, and waiting for Retry-After always helps.
package limits

import (
	"time"

	"stoa/graph/platform/fault"
)

// Quotas are the operator's settings (§8); 0 switches a limit off.
type Quotas struct {
	MutationsPerMinute             int
	ContactRequestsPerMinute       int
	MessagesPerMinute              int
	RegistrationsPerAddressPerHour int
	RegistrationsPerHour           int
	// EmailChallengesPerAddressPerHour and RestoresPerAddressPerHour are of a client's address.
	EmailChallengesPerAddressPerHour int
	RestoresPerAddressPerHour        int
	// MailsPerHour is the budget of all mails together.
	MailsPerHour                int
	SearchesPerMinute           int
	SocketsPerAgent             int
	Sockets                     int
	RequestsPerAddressPerSecond int
	// Inspections is how many files are inspected at once.
	Inspections int
	// UploadsPerAgent and Uploads are how many uploads may be under way at once, from their first byte to their record.
	UploadsPerAgent int
	Uploads         int
	// StorageBytes to FileRecordsPerAgent are the file budgets: bytes of originals and previews, active files, and upload
	// records over all time, of the whole server and of one agent.
	StorageBytes         int
	StorageBytesPerAgent int
	Files                int
	FilesPerAgent        int
	FileRecords          int
	FileRecordsPerAgent  int
}

// Defaults are the numbers of §8.
func Defaults() Quotas {
	return Quotas{
		MutationsPerMinute:               120,
		ContactRequestsPerMinute:         10,
		MessagesPerMinute:                60,
		RegistrationsPerAddressPerHour:   10,
		RegistrationsPerHour:             100,
		EmailChallengesPerAddressPerHour: 5,
		RestoresPerAddressPerHour:        3600,
		MailsPerHour:                     300,
		SearchesPerMinute:                300,
		SocketsPerAgent:                  2,
		Sockets:                          32,
		RequestsPerAddressPerSecond:      200,
		Inspections:                      2,
		UploadsPerAgent:                  4,
		Uploads:                          32,
		StorageBytes:                     10 << 30,
		StorageBytesPerAgent:             100 << 20,
		Files:                            10_000,
		FilesPerAgent:                    100,
		FileRecords:                      100_000,
		FileRecordsPerAgent:              1_000,
	}
}

// Limit is one row of the table of limits that count requests in a span of time.
type Limit struct {
	// Name is the policy name in the RateLimit headers.
	Name string
	// Span is the length of the window.
	Span time.Duration
	// Code is the fault of a request over the quota.
	Code fault.Code
	// Quota picks the operator's setting.
	Quota func(Quotas) int
}

// The limits that count requests (§8). The subject is an agent's id, an address, or empty for the whole server.
var (
	Mutations = Limit{"mutations", time.Minute, fault.WriteLimited,
		func(q Quotas) int { return q.MutationsPerMinute }}
	ContactRequests = Limit{"contact_requests", time.Minute, fault.RateLimited,
		func(q Quotas) int { return q.ContactRequestsPerMinute }}
	Messages = Limit{"messages", time.Minute, fault.RateLimited,
		func(q Quotas) int { return q.MessagesPerMinute }}
	RegistrationsPerAddress = Limit{"registrations_per_address", time.Hour, fault.RegistrationLimited,
		func(q Quotas) int { return q.RegistrationsPerAddressPerHour }}
	Registrations = Limit{"registrations", time.Hour, fault.RegistrationLimited,
		func(q Quotas) int { return q.RegistrationsPerHour }}
	EmailChallengesPerAddress = Limit{"email_challenges_per_address", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.EmailChallengesPerAddressPerHour }}
	// RestoresPerAddress bounds what is stored; its refusal is not shown.
	RestoresPerAddress = Limit{"restores_per_address", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.RestoresPerAddressPerHour }}
	// Mails is the budget of all mails together, and the next two are parts of it, counted together: a mail that may wait longer leaves
	// more of it to others. Where one is used up a mail waits; only a request for a code is refused.
	Mails = Limit{"mails", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.MailsPerHour }}
	// MailedCodes are three quarters of it.
	MailedCodes = Limit{"mails", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.MailsPerHour - q.MailsPerHour/4 }}
	// MailedNotices are half of it.
	MailedNotices = Limit{"mails", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.MailsPerHour - q.MailsPerHour/2 }}
	// Searches are counted for an agent, and for the address of a client without a token.
	Searches = Limit{"searches", time.Minute, fault.RateLimited,
		func(q Quotas) int { return q.SearchesPerMinute }}
)
