package graphtest

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	_ "embed" // everything.sql
	"encoding/base64"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/feedback"
	"stoa/graph/messages"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// Asked lets one agent ask another for its friendship and returns the pending contact.
func (w *World) Asked(from, to *Agent) uuid.UUID {
	return Got(w.Contacts.RequestContact(from.Ctx, contacts.RequestInput{RecipientID: Ptr(to.ID.String())}))(w.t).Contact.ID
}

// Befriend makes two agents friends, at the request of the first, and returns their contact.
func (w *World) Befriend(from, to *Agent) uuid.UUID {
	id := w.Asked(from, to)
	OK(w.t)(w.Contacts.AcceptContact(to.Ctx, contacts.ActInput{ContactID: id.String()}))
	return id
}

// Friends registers two agents who are friends.
func (w *World) Friends() (one, other *Agent) {
	one, other = w.Agent(), w.Agent()
	w.Befriend(one, other)
	return one, other
}

// Block lets an agent block a contact.
func (w *World) Block(by *Agent, contactID uuid.UUID) {
	OK(w.t)(w.Contacts.BlockContact(by.Ctx, contacts.ActInput{ContactID: contactID.String()}))
}

// Envelope returns a new envelope with 64 random bytes, which look like ciphertext.
func Envelope(from, to *Agent) messages.SendInput {
	return messages.SendInput{
		RecipientID:        Ptr(to.ID.String()),
		ClientMessageID:    Ptr(uuid.NewString()),
		Nonce:              Ptr(RandomBase64(24)),
		Ciphertext:         Ptr(RandomBase64(64)),
		EncryptionVersion:  Ptr(messages.Version),
		SenderPublicKey:    Ptr(from.PublicKey()),
		RecipientPublicKey: Ptr(to.PublicKey()),
	}
}

// Sent lets an agent send a friend a message.
func (w *World) Sent(from, to *Agent) *messages.Card {
	return Got(w.Messages.SendMessage(from.Ctx, Envelope(from, to)))(w.t).Message
}

// RandomBase64 returns size random bytes in padded standard base64.
func RandomBase64(size int) string {
	b := make([]byte, size)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

// Posted lets an agent post a text, private or public.
func (w *World) Posted(by *Agent, text, visibility string) *posts.Card {
	return Got(w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{Text: &text, Visibility: &visibility}}))(w.t).Post
}

// Show opens or closes an agent's profile.
func (w *World) Show(agent *Agent, public bool) {
	OK(w.t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{ProfilePublic: &public}))
}

// File adds the record of an inspected image that is ready. It has no bytes: tests that read bytes must upload a file.
func (w *World) File(owner *Agent, purpose attachments.Purpose) uuid.UUID {
	sum := make([]byte, 32)
	rand.Read(sum)
	made := Got(w.DB.Ent.Attachment.Create().SetOwnerID(owner.ID).SetUploadID(uuid.New()).SetPurpose(purpose).SetStatus("ready").
		SetFileName("secret name.png").SetSizeBytes(100).SetSha256(sum).SetReservedBytes(150).SetMediaType("image/png").SetWidth(400).SetHeight(300).
		SetPreviewBytes(50).SetPreviewSha256(sum).SetPublishedBytes(80).SetPublishedSha256(sum).
		SetCreatedAt(w.Now()).SetQueuedAt(w.Now()).Save(owner.Ctx))(w.t)
	return made.ID
}

// Tasked lets an agent put a task on the board, due in a day.
func (w *World) Tasked(by *Agent, title, description string, amountMinor int64) *tasks.Card {
	return Got(w.Tasks.CreateTask(by.Ctx, tasks.CreateTaskInput{
		Title: &title, Description: &description, AmountMinor: &amountMinor, Deadline: Ptr(w.Now().Add(24 * time.Hour).Format(time.RFC3339Nano)),
	}))(w.t).Task
}

// Serviced lets an agent add a service to the catalogue.
func (w *World) Serviced(by *Agent, title, description string) *services.Card {
	in := services.CreateServiceInput{Fields: services.Fields{Title: &title, Description: &description}}
	return Got(w.Services.CreateService(by.Ctx, in))(w.t).Service
}

// Reported lets an agent report an entity.
func (w *World) Reported(by *Agent, kind string, id uuid.UUID, text string) *feedback.Card {
	subject := &feedback.SubjectInput{Type: &kind, ID: Ptr(id.String())}
	return Got(w.Feedback.SendFeedback(by.Ctx, feedback.SendInput{Kind: Ptr("report"), Text: &text, Subject: subject}))(w.t).Feedback
}

// Responded lets an agent respond to a task, for the reward that the task offers.
func (w *World) Responded(by *Agent, taskID uuid.UUID) *tasks.ResponseCard {
	return Got(w.Tasks.RespondToTask(by.Ctx, tasks.RespondInput{TaskID: taskID.String(), Text: Ptr("I can do that.")}))(w.t).Response
}

// Selected lets the customer of a task select a response that asks for no other reward than the task's.
func (w *World) Selected(by *Agent, task *tasks.Card, responseID uuid.UUID) *orders.Card {
	return Got(w.Tasks.SelectResponse(by.Ctx, tasks.SelectInput{
		TaskID: task.ID.String(), OperationID: Ptr(uuid.NewString()), ResponseID: Ptr(responseID.String()), ConfirmedTotalMinor: &task.TotalMinor,
	}))(w.t).Order
}

// Ordered adds an order in a state, without the steps that lead there. It is due at once, and was accepted if it is closed.
func (w *World) Ordered(customer, contractor *Agent, state string) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	w.Exec(`INSERT INTO orders (id, created_at, customer_id, updated_at, contractor_id, author_id, state, outcome, title, description,
		deadline, amount_minor, fee_minor, total_minor, fee_bps) VALUES ($1, stoa_now(), $2, stoa_now(), $3, $2, $4::text,
		CASE $4::text WHEN 'closed' THEN 'accepted' END, 'x', 'x', stoa_now(), 100, 10, 110, 1000)`, id, customer.ID, contractor.ID, state)
	return id
}

//go:embed everything.sql
var everything string

// placeholders matches the values that everything.sql leaves open.
var placeholders = regexp.MustCompile(`\{(\w+)\}`)

// Everything adds a row of every kind that operators list (everything.sql), and an order's file, and returns the ids by the types
// of GraphQL's schema. text stands where an agent may write.
func (w *World) Everything(one, other *Agent, text string) map[string]uuid.UUID {
	ids := map[string]uuid.UUID{"Bot": one.ID, "Other": other.ID}
	w.Exec(placeholders.ReplaceAllStringFunc(everything, func(name string) string {
		if name = strings.Trim(name, "{}"); name == "text" {
			return pq.QuoteLiteral(text)
		}
		if _, known := ids[name]; !known {
			ids[name] = uuid.Must(uuid.NewV7())
		}
		return pq.QuoteLiteral(ids[name].String())
	}))
	delete(ids, "Other")
	ids["Attachment"] = w.File(one, attachments.Order)
	w.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", ids["Attachment"], ids["Order"])
	return ids
}

// Agent is a registered agent with a real X25519 key.
type Agent struct {
	ID    uuid.UUID
	Token string
	Key   *ecdh.PrivateKey
	// Ctx is a context in which this agent is the caller.
	Ctx context.Context
}

// PublicKey is the agent's registered key as it goes over the wire.
func (a *Agent) PublicKey() string {
	return base64.StdEncoding.EncodeToString(a.Key.PublicKey().Bytes())
}

// Agent registers an agent through the same method that REST calls.
func (w *World) Agent() *Agent {
	agent := &Agent{Key: Got(ecdh.X25519().GenerateKey(rand.Reader))(w.t)}
	handle, name, public := fmt.Sprintf("agent_%d", w.handles.Add(1)), "Agent", agent.PublicKey()
	ctx := context.Background()
	made := Got(w.Bots.RegisterBot(ctx, bots.RegisterInput{Handle: &handle, DisplayName: &name, EncryptionPublicKey: &public}))(w.t)
	agent.ID, agent.Token = made.Bot.ID, made.Token
	agent.Ctx = viewer.With(ctx, Got(w.Auth.Authenticate(ctx, agent.Token, false))(w.t))
	return agent
}

// Ptr returns a pointer to v, for the optional fields of inputs.
func Ptr[T any](v T) *T { return &v }

// RequireFault fails the test unless err is a fault of that code, and returns it. about names the call in the failure.
func RequireFault(t require.TestingT, err error, code fault.Code, about ...any) *fault.Error {
	require.Error(t, err, about...)
	known := fault.From(err)
	require.Equal(t, code, known.Code, "%v %v", about, err)
	return known
}

// Deleted lets the lifecycle delete an agent, as if its owner had been notified a month ago.
func (w *World) Deleted(agent *Agent) {
	w.Exec("UPDATE settings SET lifecycle_activated_at = coalesce(lifecycle_activated_at, stoa_now())")
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	w.Exec(`INSERT INTO trash_notices (bot_id, created_at, mail_id, sent_at)
		VALUES ($1, stoa_now() - interval '2 months', gen_random_uuid(), stoa_now() - interval '2 months')`, agent.ID)
	OK(w.t)(w.Lifecycle.Run(context.Background()))
	require.EqualValues(w.t, 1, w.Count("SELECT count(*) FROM bots WHERE id = $1 AND state = 'deleted'", agent.ID))
}

// Nightly skips t with -short: it runs every night.
func Nightly(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs every night")
	}
}

// Checks sets the number of histories that rapid draws for a property to full, or with -short to a fifth, unless -rapid.checks is
// set. TestMain calls it before the tests if a history has many statements.
func Checks(full int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(full)); err != nil {
		panic(err)
	}
}

// Refused returns a check of a call's results: the call must return a fault of that code. about names the call in the failure.
func Refused(t require.TestingT, code fault.Code, about ...any) func(any, error) {
	return func(_ any, err error) { _ = RequireFault(t, err, code, about...) }
}

// RefusedField is Refused for a fault that names a field.
func RefusedField(t require.TestingT, code fault.Code, field string, about ...any) func(any, error) {
	return func(_ any, err error) {
		require.Contains(t, RequireFault(t, err, code, about...).Fields, field, about...)
	}
}

// Err returns the error of a call's results.
func Err(_ any, err error) error { return err }

// OK returns a check of a call's results: the call must succeed.
func OK(t require.TestingT, about ...any) func(any, error) {
	return func(_ any, err error) { require.NoError(t, err, about...) }
}

// Got returns the result of a call that must succeed: graphtest.Got(w.Posts.CreatePost(ctx, in))(t).
func Got[T any](result T, err error) func(t require.TestingT, about ...any) T {
	return func(t require.TestingT, about ...any) T {
		require.NoError(t, err, about...)
		return result
	}
}

// Codes are the codes of the faults of requests, in order; "" is none.
type Codes []fault.Code

// Count counts each code.
func (c Codes) Count() map[fault.Code]int {
	counts := make(map[fault.Code]int)
	for _, code := range c {
		counts[code]++
	}
	return counts
}

// AtOnce runs requests at the same moment and waits for all.
func AtOnce(requests int, request func(i int) error) Codes {
	var group sync.WaitGroup
	start, codes := make(chan struct{}), make(Codes, requests)
	for i := range requests {
		group.Go(func() {
			<-start
			codes[i] = fault.CodeOf(request(i))
		})
	}
	close(start)
	group.Wait()
	return codes
}

// Hold runs a statement in a transaction of the test, which keeps its locks until the returned function commits it.
func (w *World) Hold(query string, args ...any) (commit func()) {
	tx := Got(w.DB.SQL.Pool.Begin())(w.t)
	w.t.Cleanup(func() { _ = tx.Rollback() }) // a test that failed has not committed it
	OK(w.t)(tx.Exec(query, args...))
	return func() { require.NoError(w.t, tx.Commit()) }
}

// AwaitLocks returns once that many statements of this world wait for a lock.
func (w *World) AwaitLocks(many int64) {
	require.Eventually(w.t, func() bool {
		return w.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == many
	}, slack.TestWait, 5*time.Millisecond)
}
