package email

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// about holds the fields of the record that a mail is about, as its templates show them.
type about struct {
	Handle string `db:"handle"`
	// Until is the end of the mail's offer; of a notice the earliest deletion, if the mail is sent now.
	Until time.Time `db:"until"`
	// ByOwner: the owner asked for the erasure that the mail is about.
	ByOwner bool `db:"by_owner"`

	api *API
	id  *uuid.UUID
	to  Link
}

// Code is the six digits of a challenge.
func (of *about) Code() string { return of.api.Code(*of.id) }

// URL is the page that the mail leads to.
func (of *about) URL() string { return of.api.LinkURL(of.to, *of.id) }

// RestoreURL is the page on which an owner asks for a new token.
func (of *about) RestoreURL() string { return of.api.Origin + RestorePage }

// record reads the record that a mail is about, or the agent if it is about none. The statement has no row once the mail is pointless.
func record(s *db.Statement, to Link) func(context.Context, *API, *claimed) (any, error) {
	return func(ctx context.Context, a *API, m *claimed) (any, error) {
		of, err := db.One[about](ctx, a.DB.SQL, s, cmp.Or(m.Reference, m.BotID))
		if err != nil {
			return nil, err
		}
		of.api, of.id, of.to = a, m.Reference, to
		return of, nil
	}
}

// Link is an owner's page that a mail leads to. Its URL ends with an id and the token that proves that the link was mailed.
type Link struct{ path, label string }

// The links of mails.
var (
	// ConfirmLink is the page on which an owner confirms a registration, or that an agent is theirs; of a challenge's id.
	ConfirmLink = Link{"/owner/confirm/", "confirm"}
	// RestoreLink is the page on which an owner restores access to an agent; of a restore's id.
	RestoreLink = Link{"/owner/restore/", "restore"}
	// ExportLink and EraseLink are the pages on which an owner gets an archive of an agent and has it erased; of a request's id.
	ExportLink = Link{"/owner/export/", "export"}
	EraseLink  = Link{"/owner/erase/", "erase"}
	// KeepLink is the page on which an owner cancels an erasure; of the erasure's id.
	KeepLink = Link{"/owner/keep/", "keep"}
)

// ProofLabel is the label of the token that proves a verified address to a registration. It is of a challenge's id.
const ProofLabel = "proof"

// RestorePage is where an owner asks for a RestoreLink.
const RestorePage = "/owner/restore"

// LinkURL is the URL of a link for an id.
func (a *API) LinkURL(l Link, id uuid.UUID) string {
	return a.Origin + l.path + id.String() + "/" + a.LinkToken(l.label, id)
}

// Follows reports whether the token of a link's URL is that of its id, in constant time.
func (a *API) Follows(l Link, id uuid.UUID, token string) bool {
	return a.IsLinkToken(l.label, id, token)
}
