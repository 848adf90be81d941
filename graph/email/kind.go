package email

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	htmltemplate "html/template"
	"math"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed templates
var templates embed.FS

// kind is one kind of mail: its subject, its two templates, and their data.
type kind struct {
	subject string
	text    *template.Template
	html    *htmltemplate.Template
	// budget is the part of the hourly budget towards which the mail counts.
	budget limits.Limit
	// load reads the data of the templates. If the mail's record is gone, it returns sql.ErrNoRows or ent's not found, and the
	// mail is given up.
	load func(ctx context.Context, a *API, m *claimed) (any, error)
}

// kinds is every kind of mail that can be sent.
var kinds = map[mail.Kind]kind{
	mail.KindTest: newKind("Test mail from Stoa", "test", limits.Mails, func(_ context.Context, _ *API, m *claimed) (any, error) {
		return testData{m.CreatedAt}, nil
	}),
	// The reference of the next three is a challenge.
	mail.KindRegistrationCode:    newKind("Confirm a registration on Stoa", "registration_code", limits.MailedCodes, record(named("challenge_mail"), ConfirmLink)),
	mail.KindLinkCode:            newKind("Confirm that an agent on Stoa is yours", "link_code", limits.MailedCodes, record(named("challenge_mail"), ConfirmLink)),
	mail.KindRegistrationRefused: newKind("A registration on Stoa was refused", "registration_refused", limits.MailedCodes, record(named("refused_mail"), Link{})),
	// The reference is a restore.
	mail.KindRestoreLink: newKind("Restore access to your agent on Stoa", "restore_link", limits.Mails, record(named("restore_mail"), RestoreLink)),
	// The reference of the next two is a request of an owner; the reference of the third is an erasure.
	mail.KindExportLink:    newKind("An archive of your agent on Stoa", "export_link", limits.Mails, record(named("request_mail"), ExportLink)),
	mail.KindEraseLink:     newKind("Erase your agent on Stoa", "erase_link", limits.Mails, record(named("request_mail"), EraseLink)),
	mail.KindErasureNotice: newKind("Your agent on Stoa is to be erased", "erasure_notice", limits.Mails, record(named("erasure_mail"), KeepLink)),
	mail.KindOperatorMail:  newKind("A message about your agent on Stoa", "operator_mail", limits.Mails, operatorContent),
	mail.KindTrashNotice:   newKind("Your agent on Stoa is inactive", "trash_notice", limits.MailedNotices, record(named("notice_mail"), Link{})),
}

// newKind reads the templates <name>.txt and <name>.html, which define the content of the layout.
func newKind(subject, name string, budget limits.Limit, load func(context.Context, *API, *claimed) (any, error)) kind {
	return kind{
		subject: subject,
		text:    template.Must(template.ParseFS(templates, "templates/layout.txt", "templates/"+name+".txt")),
		html:    htmltemplate.Must(htmltemplate.ParseFS(templates, "templates/layout.html", "templates/"+name+".html")),
		budget:  budget,
		load:    load,
	}
}

// testData holds the fields of a test mail.
type testData struct{ At time.Time }

// Asked is when the mail was asked for.
func (d testData) Asked() string { return d.At.UTC().Format("2 January 2006, 15:04:05 MST") }

// written holds the fields of a mail that an operator has written.
type written struct {
	Handle string `db:"handle"`
	Text   string `db:"text"`
	// Operator is the name of the platform's operator, Contact the address for answers; empty if the settings have none.
	Operator string `db:"operator_name"`
	Contact  string `db:"operator_contact_email"`
	// Origin is the public URL of the platform.
	Origin string
}

// operatorContent returns the text of an operator about an agent that is not deleted.
func operatorContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[written](ctx, a.DB.SQL, named("operator_mail"), m.ID)
	if err != nil {
		return nil, err
	}
	of.Origin = a.Origin
	return of, nil
}

// Lines returns the lines of the text.
func (w *written) Lines() []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(w.Text), "\n")
}

// KeySize is the size of the installation's key in bytes.
const KeySize = 32

// codes is the number of possible codes of six digits.
const codes = 1_000_000

// Code returns the six digits that belong to a challenge. All codes are equally likely, and without the key a challenge's id
// reveals nothing about its code.
func (a *API) Code(challenge uuid.UUID) string {
	const fair = math.MaxUint64 - math.MaxUint64%codes // numbers above favour small codes
	for round := 0; ; round++ {
		if n := binary.BigEndian.Uint64(a.mac("code "+strconv.Itoa(round), challenge)); n < fair {
			return fmt.Sprintf("%06d", n%codes)
		}
	}
}

// IsCode reports, in constant time, whether code belongs to the challenge.
func (a *API) IsCode(challenge uuid.UUID, code string) bool { return equal(a.Code(challenge), code) }

// LinkToken returns the 43 characters of base64url that prove that a link was mailed. Each label and id has its own token.
func (a *API) LinkToken(l Link, id uuid.UUID) string {
	return base64.RawURLEncoding.EncodeToString(a.mac("link "+l.label, id))
}

// AddressDigest returns the name under which the passports of an owner's address are counted after the address was erased. No
// mail address has its form, and it reveals nothing without the installation's key.
func (a *API) AddressDigest(address string) string {
	return "erased " + base64.RawURLEncoding.EncodeToString(a.mac("erased address "+address, uuid.Nil))
}

// mac panics without the installation's key, because its result would not be secret.
func (a *API) mac(label string, id uuid.UUID) []byte {
	if len(a.Key) != KeySize {
		panic("email: the installation's key is not set")
	}
	m := hmac.New(sha256.New, a.Key)
	m.Write([]byte(label))
	m.Write([]byte{0})
	m.Write(id[:])
	return m.Sum(nil)
}

func equal(one, other string) bool {
	return subtle.ConstantTimeCompare([]byte(one), []byte(other)) == 1
}
