package email

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

var (
	challengeMail = statements.Named("challenge_mail")
	refusedMail   = statements.Named("refused_mail")
	restoreMail   = statements.Named("restore_mail")
	noticeMail    = statements.Named("notice_mail")
	requestMail   = statements.Named("request_mail")
	erasureMail   = statements.Named("erasure_mail")
)

// about holds the fields of the mail's agent that templates show.
type about struct {
	Handle string `db:"handle"`
	// Until is the end of the mail's offer.
	Until time.Time `db:"until"`
	// ByOwner: the owner asked for the erasure that the mail is about.
	ByOwner bool `db:"by_owner"`
	// Code is the six digits of a challenge, URL the page that the mail leads to, RestoreURL that on which to ask for a new token; or empty.
	Code, URL, RestoreURL string
}

// challengeContent is the code and the link of a challenge that is still open.
func challengeContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[about](ctx, a.DB.SQL, challengeMail, m.Reference)
	if err != nil {
		return nil, err
	}
	of.Code, of.URL = a.Code(*m.Reference), a.LinkURL(ConfirmLink, *m.Reference)
	return of, nil
}

// refusedContent explains why no code was mailed.
func refusedContent(ctx context.Context, a *API, m *claimed) (any, error) {
	return db.One[about](ctx, a.DB.SQL, refusedMail, m.Reference)
}

// restoreContent is the link of a restore that is still open.
func restoreContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[about](ctx, a.DB.SQL, restoreMail, m.Reference)
	if err != nil {
		return nil, err
	}
	of.URL = a.LinkURL(RestoreLink, *m.Reference)
	return of, nil
}

// noticeContent is about an agent that is in the trash. Until is the earliest deletion, if the mail is sent now.
func noticeContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[about](ctx, a.DB.SQL, noticeMail, m.BotID)
	if err != nil {
		return nil, err
	}
	of.URL = a.Origin + RestorePage
	return of, nil
}

// requestContent is the link of a request that an owner can still confirm.
func requestContent(to Link) func(context.Context, *API, *claimed) (any, error) {
	return func(ctx context.Context, a *API, m *claimed) (any, error) {
		of, err := db.One[about](ctx, a.DB.SQL, requestMail, m.Reference)
		if err != nil {
			return nil, err
		}
		of.URL = a.LinkURL(to, *m.Reference)
		return of, nil
	}
}

// erasureContent is about an erasure that can still be cancelled.
func erasureContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[about](ctx, a.DB.SQL, erasureMail, m.Reference)
	if err != nil {
		return nil, err
	}
	of.URL, of.RestoreURL = a.LinkURL(KeepLink, *m.Reference), a.Origin+RestorePage
	return of, nil
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
