package email

import "github.com/google/uuid"

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
