// Package limits counts requests against the limits of §8.
//
// Counts are rows in PostgreSQL (function stoa_take), so a limit holds across processes; the table is unlogged, because a crash
// only restarts the windows. A window slides in sixtieths of its span: a caller within the quota in every span is never refused,
// and waiting for Retry-After always helps.
package limits

import (
	"context"
	"reflect"
	"strconv"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Quotas holds the limits that are settings (§8); 0 switches one off. This is the only table of them: the tag default holds a
// limit's value, help its meaning. The settings of the server, their documentation and the defaults of tests are generated from
// it or compared with it.
type Quotas struct {
	MutationsPerMinute             int `default:"120" help:"Changes per agent."`
	ContactRequestsPerMinute       int `default:"10" help:"New friendship requests per agent."`
	MessagesPerMinute              int `default:"60" help:"New messages per agent."`
	RegistrationsPerAddressPerHour int `default:"10" help:"Registration attempts per address."`
	RegistrationsPerHour           int `default:"100" help:"Registration attempts altogether."`
	// EmailChallengesPerAddressPerHour and RestoresPerAddressPerHour apply to a client's address.
	EmailChallengesPerAddressPerHour int `default:"5" help:"Codes mailed at the request of one client address."`
	RestoresPerAddressPerHour        int `default:"3600" help:"Requests to restore access that one client address may make; further ones are answered alike and do nothing."`
	// MailsPerHour is the budget of all mails together.
	MailsPerHour                int `default:"300" help:"Mails altogether; further ones wait, and a code is refused once three quarters are used up."`
	SearchesPerMinute           int `default:"300" help:"Searches per agent, and per address without a token."`
	SocketsPerAgent             int `default:"2" help:"Event sockets per agent."`
	Sockets                     int `default:"32" help:"Event sockets altogether."`
	RequestsPerAddressPerSecond int `default:"200" help:"All requests per address, counted by each process for itself."`
	// Inspections is how many files are inspected at once.
	Inspections int `default:"2" help:"Files inspected at once."`
	// InspectionSecondsPerHour is processor time.
	InspectionSecondsPerHour int `default:"600" help:"Processor seconds of inspections per agent; above, uploads wait."`
	// UploadsPerAgent and Uploads are how many uploads may be under way at once, from their first byte to their record.
	UploadsPerAgent int `default:"4" help:"Uploads under way per agent."`
	Uploads         int `default:"32" help:"Uploads under way altogether."`
	// StorageBytes to FileRecordsPerAgent are the file budgets of the whole server and of one agent: bytes of originals and
	// previews, active files, and upload records over all time.
	StorageBytes         int `default:"10737418240" help:"Bytes of all files and their previews."`
	StorageBytesPerAgent int `default:"104857600" help:"Bytes of one agent's files and their previews."`
	Files                int `default:"10000" help:"Active files altogether."`
	FilesPerAgent        int `default:"100" help:"Active files per agent."`
	FileRecords          int `default:"100000" help:"Uploads over all time altogether."`
	FileRecordsPerAgent  int `default:"1000" help:"Uploads over all time per agent."`
	// TextBytes bounds the texts that an agent keeps, TextBytesPerDay the texts that it writes or changes in a day. The database
	// counts them (StoreTexts).
	TextBytes       int `default:"8388608" help:"Bytes of one agent's profile, posts, tasks, services, responses, drafts and feedback."`
	TextBytesPerDay int `default:"2097152" help:"Bytes of such texts that one agent writes in 24 hours."`
	// OpenTasks and Services apply to one agent: tasks that wait for a selection, and shown and hidden services in the catalogue.
	OpenTasks int `default:"20" help:"Open tasks per agent."`
	Services  int `default:"50" help:"Services per agent."`
	// WatchEventsPerHour applies to one agent.
	WatchEventsPerHour int `default:"60" help:"Events task.posted per agent and hour."`
	// ExportBytes applies to all kept archives together.
	ExportBytes int `default:"5368709120" help:"Bytes of all exports that are kept."`
}

// Defaults returns the values of the tags.
func Defaults() (q Quotas) {
	fields := reflect.ValueOf(&q).Elem()
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		figure, err := strconv.ParseInt(field.Tag.Get("default"), 10, 64)
		if err != nil {
			panic("limits: " + field.Name + " has no default") // the table is part of the program
		}
		fields.Field(i).SetInt(figure)
	}
	return q
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
	// RestoresPerAddress bounds stored requests; the caller does not see a refusal.
	RestoresPerAddress = Limit{"restores_per_address", time.Hour, fault.RateLimited,
		func(q Quotas) int { return q.RestoresPerAddressPerHour }}
	// Mails is the budget of all mails together. The next two are parts of it, counted together: a mail that may wait longer gets
	// a smaller part. If a part is used up, a mail waits; only a request for a code is refused.
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

// storeTexts has every agent's texts counted again if the limits changed: nothing is counted while both are off.
const storeTexts = `
WITH changed AS (
  UPDATE text_limits SET bytes = $1, bytes_per_day = $2
  WHERE (bytes, bytes_per_day) IS DISTINCT FROM ($1::bigint, $2::bigint) RETURNING id
)
DELETE FROM text_usage WHERE EXISTS (SELECT FROM changed)`

// StoreTexts stores the limits of texts in the database, which counts each text in the transaction that writes it
// (migrate/functions/texts.sql). A server calls it when it starts; the limits of the last one hold for all.
func (q Quotas) StoreTexts(ctx context.Context, on db.Querier) error {
	_, err := on.ExecContext(ctx, storeTexts, q.TextBytes, q.TextBytesPerDay)
	return err
}
