package owner_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"stoa/graph/bots"
	"stoa/graph/exports"
	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/viewer"
	"stoa/rest"
)

const ada = "ada@example.org"

// world is a public listener whose operator has set up the email gate and restoring. At the end of its test, logs, traces and
// metrics must hold no secret of a link.
type world struct {
	*graphtest.World
	t       *testing.T
	url     string
	logs    *os.File
	spans   *tracetest.SpanRecorder
	metrics *metrics.Metrics
	// secrets are the tokens of all links and agents.
	secrets []string
}

func newWorld(t *testing.T, options ...graphtest.Option) *world {
	t.Helper()
	w := &world{
		World: graphtest.New(t, append(options, graphtest.WithMail(&graphtest.Mailbox{}))...), t: t,
		logs: graphtest.Got(os.CreateTemp(t.TempDir(), "log"))(t), spans: tracetest.NewSpanRecorder(), metrics: metrics.New("test"),
	}
	w.url = w.serve(w.config())
	w.Email.Origin = w.url
	w.RequireOwners()
	t.Cleanup(w.requireNoSecrets)
	return w
}

// config returns the configuration of the world's listener.
func (w *world) config() rest.Config {
	return rest.Config{
		Graph: w.Graph, Draining: new(atomic.Bool), Metrics: w.metrics,
		Logger: slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Tracer: sdk.NewTracerProvider(sdk.WithSpanProcessor(w.spans)).Tracer(tracing.Scope),
	}
}

// serve starts a listener and returns its URL.
func (w *world) serve(c rest.Config) string {
	server := httptest.NewServer(rest.New(c))
	w.t.Cleanup(server.Close)
	return server.URL
}

func (w *world) requireNoSecrets() {
	exposed := httptest.NewRecorder()
	w.metrics.Handler().ServeHTTP(exposed, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	seen := w.logged() + exposed.Body.String()
	for _, span := range w.spans.Ended() {
		seen += span.Name()
		for _, a := range span.Attributes() {
			seen += a.Value.String()
		}
	}
	for _, secret := range w.secrets {
		require.NotContains(w.t, seen, secret)
	}
}

// logged returns the log.
func (w *world) logged() string {
	return string(graphtest.Got(os.ReadFile(w.logs.Name()))(w.t))
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// rows returns a hash of all rows that an owner page could change.
func (w *world) rows() string {
	return graphtest.Column[string](w.World, `
		SELECT md5(concat((SELECT string_agg(t::text, ';' ORDER BY t.id) FROM email_challenges t),
			(SELECT string_agg(t::text, ';' ORDER BY t.id) FROM restores t), (SELECT string_agg(t::text, ';' ORDER BY t.id) FROM bots t),
			(SELECT string_agg(t::text, ';' ORDER BY t.id) FROM tokens t), (SELECT count(*) FROM mails)))`)[0]
}

// anyone returns the context of a caller without a token.
func anyone() context.Context {
	return viewer.With(context.Background(), viewer.Viewer{Address: "192.0.2.1"})
}

// letter holds the parts of a mail that an owner uses.
type letter struct{ code, path string }

var (
	codeLine = regexp.MustCompile(`this code: (\d{6})`)
	linkLine = regexp.MustCompile(`(?m)^http://[^/]+(/owner/(?:confirm|restore|export|erase|keep)/[0-9a-f-]{36}/([A-Za-z0-9_-]{43}))\r?$`)
)

// lastMail reads the newest mail to ada.
func (w *world) lastMail() (l letter) {
	w.t.Helper()
	mails := w.Mails(ada)
	require.NotEmpty(w.t, mails)
	text := mails[len(mails)-1].Text
	if code := codeLine.FindStringSubmatch(text); code != nil {
		l.code = code[1]
	}
	link := linkLine.FindStringSubmatch(text)
	require.NotNil(w.t, link, text)
	w.secrets = append(w.secrets, link[2])
	l.path = link[1]
	return l
}

// applicant is an agent that is about to register.
type applicant struct {
	handle, key string
	challenge   uuid.UUID
}

// apply asks for a mail to the owner of a new agent.
func (w *world) apply(handle string) (applicant, letter) {
	w.t.Helper()
	key := graphtest.Got(ecdh.X25519().GenerateKey(rand.Reader))(w.t)
	a := applicant{handle: handle, key: base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())}
	asked := graphtest.Got(w.Owners.RequestRegistrationEmail(anyone(), owners.RegistrationEmailInput{
		Email: graphtest.Ptr(ada), Handle: &a.handle, EncryptionPublicKey: &a.key,
	}))(w.t)
	a.challenge = asked.ChallengeID
	return a, w.lastMail()
}

// verify sends the code of a mail.
func (w *world) verify(a applicant, code string) (*owners.Proof, error) {
	return w.Owners.VerifyRegistrationEmail(anyone(), owners.CodeInput{ChallengeID: graphtest.Ptr(a.challenge.String()), Code: &code})
}

// register makes an agent whose owner has confirmed it on the page.
func (w *world) register(handle string) *bots.Registration { //nolint:unparam // tests read better with the handle
	w.t.Helper()
	a, mail := w.apply(handle)
	w.submit(mail.path).status(http.StatusOK)
	proof := graphtest.Got(w.verify(a, mail.code))(w.t)
	made := graphtest.Got(w.Bots.RegisterBot(anyone(), bots.RegisterInput{
		Handle: &a.handle, DisplayName: graphtest.Ptr("Agent"), EncryptionPublicKey: &a.key,
		OwnerChallengeID: graphtest.Ptr(a.challenge.String()), OwnerVerificationToken: &proof.VerificationToken,
	}))(w.t)
	w.secrets = append(w.secrets, made.Token)
	return made
}

// work does the jobs that were asked for.
func (w *world) work() {
	w.t.Helper()
	for _, job := range w.AskedJobs() {
		var err error
		switch job := job.(type) {
		case owners.RequestJob:
			err = w.Owners.ExamineRequest(w.t.Context(), job.RequestID)
		case owners.RestoreJob:
			err = w.Owners.ExamineRestore(w.t.Context(), job.RestoreID)
		case exports.Job:
			err = w.Exports.Make(w.t.Context(), job.ExportID)
		}
		require.NoError(w.t, err)
	}
}

// wish fills in the form of a page that asks for a link, for the agent echo, and returns the path of the link in the mail.
func (w *world) wish(page string) string {
	w.t.Helper()
	w.get(page).status(http.StatusOK)
	require.Less(w.t, w.post(page, url.Values{"handle": {"echo"}, "email": {ada}}).code, 300)
	w.work()
	return w.lastMail().path
}

// send makes a request and reads the answer, which newPage checks.
func (w *world) send(method, path, body string, headers ...string) *page {
	w.t.Helper()
	to := path
	if strings.HasPrefix(path, "/") {
		to = w.url + path
	}
	request := graphtest.Got(http.NewRequestWithContext(w.t.Context(), method, to, strings.NewReader(body)))(w.t)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(w.t, err)
	defer answer.Body.Close()
	raw := graphtest.Got(io.ReadAll(answer.Body))(w.t)
	return newPage(w.t, method, answer, raw)
}

func (w *world) get(path string) *page {
	w.t.Helper()
	return w.send(http.MethodGet, path, "")
}

const formType = "application/x-www-form-urlencoded"

func (w *world) post(path string, form url.Values) *page {
	w.t.Helper()
	return w.send(http.MethodPost, path, form.Encode(), "Content-Type", formType)
}

// submit opens a page and sends its form unchanged.
func (w *world) submit(path string) *page {
	w.t.Helper()
	return w.post(path, w.get(path).status(http.StatusOK).form())
}
