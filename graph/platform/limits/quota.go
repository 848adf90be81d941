// Package limits counts requests against the limits of §8.
//
// Counts are rows in PostgreSQL (function stoa_take), so a limit holds across processes; the table is unlogged, because a crash
// only restarts the windows. A window slides in sixtieths of its span: a caller within the quota in every span is never refused,
// and waiting for Retry-After always helps.
package limits

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	Mutations       = Limit{"mutations", time.Minute, fault.WriteLimited, func(q Quotas) int { return q.MutationsPerMinute }}
	ContactRequests = Limit{"contact_requests", time.Minute, fault.RateLimited,
		func(q Quotas) int { return q.ContactRequestsPerMinute }}
	Messages                = Limit{"messages", time.Minute, fault.RateLimited, func(q Quotas) int { return q.MessagesPerMinute }}
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
	Mails = Limit{"mails", time.Hour, fault.RateLimited, func(q Quotas) int { return q.MailsPerHour }}
	// MailedCodes are three quarters of it.
	MailedCodes = Limit{"mails", time.Hour, fault.RateLimited, func(q Quotas) int { return q.MailsPerHour - q.MailsPerHour/4 }}
	// MailedNotices are half of it.
	MailedNotices = Limit{"mails", time.Hour, fault.RateLimited, func(q Quotas) int { return q.MailsPerHour - q.MailsPerHour/2 }}
	// Searches are counted for an agent, and for the address of a client without a token.
	Searches = Limit{"searches", time.Minute, fault.RateLimited, func(q Quotas) int { return q.SearchesPerMinute }}
)

// storeTexts has every agent's texts counted again if the limits changed: nothing is counted while both are off.
const storeTexts = `
WITH changed AS (
  UPDATE text_limits SET bytes = $1, bytes_per_day = $2
  WHERE (bytes, bytes_per_day) IS DISTINCT FROM ($1::bigint, $2::bigint) RETURNING id
)
DELETE FROM text_usage WHERE EXISTS (SELECT FROM changed)`

// StoreTexts stores the limits of texts in the database, which counts each text in the transaction that writes it
// (migrate/functions/texts.sql). A server calls it when it starts; the limits of the server that started last hold for all.
func (q Quotas) StoreTexts(ctx context.Context, on db.Querier) error {
	_, err := on.ExecContext(ctx, storeTexts, q.TextBytes, q.TextBytesPerDay)
	return err
}

// Record holds the limits that were counted for one request, for its headers and for TakeOnce.
type Record struct {
	mu    sync.Mutex
	taken []Taken
}

// Key is the context key of the request's *Record. A transport may store it in its own context type.
type Key struct{}

// WithRecord returns a context with a new Record.
func WithRecord(ctx context.Context) (context.Context, *Record) {
	record := new(Record)
	return context.WithValue(ctx, Key{}, record), record
}

func recordOf(ctx context.Context) *Record {
	record, _ := ctx.Value(Key{}).(*Record)
	return record
}

// Add records the state of a limit and replaces its earlier state; a nil record ignores it.
func (r *Record) Add(t Taken) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = slices.DeleteFunc(r.taken, func(known Taken) bool { return known.Limit.Name == t.Limit.Name })
	r.taken = append(r.taken, t)
}

// Taken returns the limits counted so far, in order.
func (r *Record) Taken() []Taken {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// Refused names the limits that refused the request.
func (r *Record) Refused() (names []string) {
	for _, t := range r.Taken() {
		if !t.Allowed {
			names = append(names, t.Limit.Name)
		}
	}
	return names
}

func (r *Record) has(name string) bool {
	return slices.ContainsFunc(r.Taken(), func(t Taken) bool { return t.Limit.Name == name })
}

// Note adds a limit that the caller's own statement has counted to the record of the request.
func Note(ctx context.Context, t Taken) { recordOf(ctx).Add(t) }

// Headers sets RateLimit and RateLimit-Policy (IETF draft) to the state of the limits counted so far, in order. If there are
// none, it sets no header (§1.8).
func (r *Record) Headers(h http.Header) {
	var policies, states []string
	for _, t := range r.Taken() {
		name := strconv.Quote(t.Limit.Name)
		policies = append(policies, name+";q="+strconv.Itoa(t.Quota)+";w="+seconds(t.Limit.Span))
		states = append(states, name+";r="+strconv.Itoa(t.Remaining)+";t="+seconds(t.Reset))
	}
	if len(policies) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// Taken is the state of one limit after an act, in the terms of the RateLimit headers.
type Taken struct {
	Limit     Limit
	Quota     int
	Allowed   bool
	Remaining int
	// Reset is the time until the whole quota is available again or, if the act was refused, until one act would be allowed.
	Reset time.Duration
}

// Fault returns nil if the act is allowed, or else the limit's fault with Retry-After. Its message names the limit.
func (t Taken) Fault() error {
	if t.Allowed {
		return nil
	}
	f := fault.New(t.Limit.Code)
	span := map[time.Duration]string{time.Minute: "a minute", time.Hour: "an hour"}[t.Limit.Span]
	return f.After(t.Reset).Say(fmt.Sprintf("%s The limit %s is %d %s.", f.Text(), t.Limit.Name, t.Quota, span))
}

// Take counts one act of subject against a limit. If the quota is used up, it returns the limit's fault (write_limited,
// rate_limited or registration_limited) and does not count the act.
func (q Quotas) Take(ctx context.Context, on db.Querier, limit Limit, subject string) error {
	quota := limit.Quota(q)
	if quota == 0 {
		return nil
	}
	found, err := db.One[counted](ctx, on, takeOne, limit.Name, subject, quota, limit.Span.Seconds())
	if err != nil {
		return err
	}
	return found.note(ctx, limit, quota)
}

// counted is the row of stoa_take.
type counted struct {
	Allowed    bool
	Remaining  int
	ResetAfter float64
}

// note adds the state of a limit to the record of the request, and returns its fault.
func (c counted) note(ctx context.Context, limit Limit, quota int) error {
	taken := Taken{limit, quota, c.Allowed, c.Remaining, Seconds(c.ResetAfter)}
	Note(ctx, taken)
	return taken.Fault()
}

var takeOne = &db.Statement{Text: "SELECT allowed, remaining, reset_after FROM stoa_take($1, $2, $3, make_interval(secs => $4))"}

// takeBoth counts an act of one subject and, only if that is allowed, of the whole server. It takes its locks in this order.
var takeBoth = &db.Statement{Text: `
WITH own AS MATERIALIZED (SELECT allowed, remaining, reset_after FROM stoa_take($1, $2, $3, make_interval(secs => $4)))
SELECT * FROM own UNION ALL SELECT whole.allowed, whole.remaining, whole.reset_after
FROM own CROSS JOIN LATERAL stoa_take($5, '', CASE WHEN own.allowed THEN $6::integer ELSE 0 END, make_interval(secs => $7)) whole`}

// TakeOnce counts one act in one statement against the subject's own limit and, if that allows it, against a limit of the server.
// Both a transport and the method behind it call it: within one request each limit counts once. It returns the fault of the limit
// whose quota is used up. That limit does not count the act, but the subject's own limit keeps its count.
func (q Quotas) TakeOnce(ctx context.Context, on *db.DB, own Limit, subject string, whole Limit) error {
	var quotas [2]int // 0 if the limit is off or has already counted this request
	both := [len(quotas)]Limit{own, whole}
	for i, limit := range both {
		if !recordOf(ctx).has(limit.Name) {
			quotas[i] = limit.Quota(q)
		}
	}
	if quotas == [len(quotas)]int{} {
		return nil
	}
	rows, err := db.All[counted](ctx, on.SQL, takeBoth, own.Name, subject, quotas[0], own.Span.Seconds(), whole.Name, quotas[1], whole.Span.Seconds())
	for i, found := range rows {
		if err == nil && quotas[i] > 0 {
			err = found.note(ctx, both[i], quotas[i])
		}
	}
	return err
}

// Seconds converts seconds from the database to a duration of whole seconds, rounded up, at least one second.
func Seconds(s float64) time.Duration {
	return time.Duration(max(math.Ceil(s), 1)) * time.Second
}

// staleBatch is how many windows one statement deletes.
const staleBatch = 5000

// Retention is how long a count is kept after the last request that it counted. No span is longer than an hour except the day of
// texts, whose counts are kept a day longer.
const Retention = 2 * time.Hour

// deleteStale skips windows that a request is counting in at the same time.
var deleteStale = &db.Statement{Text: `
DELETE FROM rate_windows WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM rate_windows WHERE taken_at < stoa_now() - make_interval(days => (name = 'texts')::integer, secs => $1)
  LIMIT $2 FOR UPDATE SKIP LOCKED))`}

// DeleteStale deletes counts that no longer matter, in batches, and returns how many there were. A job calls it.
func DeleteStale(ctx context.Context, on *db.DB) (int64, error) {
	return on.ExecBatches(ctx, deleteStale, staleBatch, Retention.Seconds())
}
