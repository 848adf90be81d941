package owners_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/viewer"
)

// origin is the origin of the links in mails.
const origin = "https://stoa.example"

// world is a server whose operator has set up the email gate and restoring.
type world struct {
	*graphtest.World
	t *testing.T
}

func newWorld(t *testing.T, options ...graphtest.Option) *world {
	t.Helper()
	w := &world{graphtest.New(t, append(options, graphtest.WithMail(&graphtest.Mailbox{}))...), t}
	w.Email.Origin = origin
	w.RequireOwners()
	return w
}

// newKey returns a public key as it goes over the wire.
func newKey(t *testing.T) string {
	t.Helper()
	key := graphtest.Got(ecdh.X25519().GenerateKey(rand.Reader))(t)
	return base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// anyone is a client without a token.
func anyone() context.Context {
	return viewer.With(context.Background(), viewer.Viewer{Address: "192.0.2.1"})
}

// applicant is an agent that is about to register.
type applicant struct{ handle, key, email string }

func (w *world) applicant(handle, email string) applicant {
	return applicant{handle, newKey(w.t), email}
}

// ask requests a challenge.
func (w *world) ask(a applicant) (*owners.Challenge, error) {
	return w.Owners.RequestRegistrationEmail(anyone(), owners.RegistrationEmailInput{
		Email: &a.email, Handle: &a.handle, EncryptionPublicKey: &a.key,
	})
}

// letter holds the parts of a mail that the owner reads.
type letter struct {
	code string
	id   uuid.UUID
	// token is the last part of the link's path.
	token string
}

var (
	codeLine = regexp.MustCompile(`this code: (\d{6})`)
	linkLine = regexp.MustCompile(`(?m)^` + origin + `/owner/(?:confirm|restore)/([0-9a-f-]{36})/([A-Za-z0-9_-]{43})$`)
)

// lastMail reads the newest mail to an address.
func (w *world) lastMail(to string) letter {
	parsed := graphtest.Got(email.Parse(to))(w.t)
	mails := w.Mails(parsed.String())
	require.NotEmpty(w.t, mails)
	return w.read(mails[len(mails)-1])
}

func (w *world) read(mail *graphtest.Mail) (l letter) {
	text := strings.ReplaceAll(mail.Text, "\r\n", "\n")
	if code := codeLine.FindStringSubmatch(text); code != nil {
		l.code = code[1]
	}
	link := linkLine.FindStringSubmatch(text)
	require.NotNil(w.t, link, text)
	require.Contains(w.t, mail.HTML, link[2], "both parts lead to the same page")
	l.id, l.token = uuid.MustParse(link[1]), link[2]
	return l
}

// confirm confirms the challenge as the owner's page does.
func (w *world) confirm(l letter) {
	shown := graphtest.Got(w.Owners.Confirmation(w.t.Context(), l.id, l.token))(w.t)
	documents := make([]uuid.UUID, len(shown.Documents))
	for i, d := range shown.Documents {
		documents[i] = d.ID
	}
	_, confirmed, err := w.Owners.Confirm(w.t.Context(), l.id, l.token, documents)
	require.NoError(w.t, err)
	require.True(w.t, confirmed)
}

// verify sends a code of a registration.
func (w *world) verify(challenge uuid.UUID, code string) (*owners.Proof, error) {
	return w.Owners.VerifyRegistrationEmail(anyone(), owners.CodeInput{ChallengeID: graphtest.Ptr(challenge.String()), Code: &code})
}

// prove goes through the gate up to the proof.
func (w *world) prove(a applicant) (challenge uuid.UUID, proof *owners.Proof) {
	asked := graphtest.Got(w.ask(a))(w.t)
	mail := w.lastMail(a.email)
	require.Equal(w.t, asked.ChallengeID, mail.id)
	w.confirm(mail)
	proof = graphtest.Got(w.verify(mail.id, mail.code))(w.t)
	return mail.id, proof
}

// registration is the input of an applicant with its proof.
func (a applicant) registration(challenge uuid.UUID, proof *owners.Proof) bots.RegisterInput {
	return bots.RegisterInput{
		Handle: &a.handle, DisplayName: graphtest.Ptr("Agent"), EncryptionPublicKey: &a.key,
		OwnerChallengeID: graphtest.Ptr(challenge.String()), OwnerVerificationToken: &proof.VerificationToken,
	}
}

// register goes through the gate and registers.
func (w *world) register(handle, email string) *bots.Registration {
	a := w.applicant(handle, email)
	return graphtest.Got(w.Bots.RegisterBot(anyone(), a.registration(w.prove(a))))(w.t)
}

// as returns a context in which the agent of a token is the caller.
func (w *world) as(token string) context.Context {
	v := graphtest.Got(w.Auth.Authenticate(context.Background(), token, false))(w.t)
	v.Address = "192.0.2.2"
	return viewer.With(context.Background(), v)
}

// ungated registers an agent without an owner.
func (w *world) ungated() *graphtest.Agent {
	w.Exec("UPDATE settings SET email_gate_enabled = false")
	defer w.Exec("UPDATE settings SET email_gate_enabled = true")
	agent := w.Agent()
	agent.Ctx = w.as(agent.Token)
	return agent
}

// examineRestores runs the added jobs.
func (w *world) examineRestores() {
	for _, job := range w.AskedJobs() {
		if restore, ok := job.(owners.RestoreJob); ok {
			require.NoError(w.t, w.Owners.ExamineRestore(w.t.Context(), restore.RestoreID))
		}
	}
}
