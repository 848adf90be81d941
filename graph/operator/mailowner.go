package operator

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// MailOwner mails a text of 1 to 4000 characters to the verified owner of an agent that is not deleted (§10). The mail names the
// platform's operator, states that the operator wrote it and about which agent, and quotes the text. Operators never see the
// address. The text is deleted once the mail has ended; the audit entry has only its length and the mail. With an operation id it
// is idempotent: a repeat mails nothing and reports that; another text is idempotency_conflict. Other faults: invalid_input,
// lifecycle_setup_pending (mail is not set up), not_found, state_conflict (no verified address), rate_limited (a sixth in 24 h).
func (a *API) MailOwner(ctx context.Context, botID uuid.UUID, body string, operationID *uuid.UUID, reason string) (*OwnerMail, error) {
	wrong := fault.Fields{}
	_, err := text.Multi(body, 1, maxOwnerMail)
	if err == nil && strings.TrimSpace(body) == "" {
		err = errEmptyMail
	}
	wrong.Add("body", err)
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	if err := a.Owners.RequireMailer(); err != nil {
		return nil, err
	}
	details := map[string]any{"characters": utf8.RuneCountInString(body)}
	setIfSent(details, "operationId", operationID)
	result, err := audited(ctx, a, entry{mailOwner, botID.String(), reason, details, nil, nil}, func(ctx context.Context, tx *db.Tx) (*OwnerMail, error) {
		sent, repeated, err := a.Owners.MailFromOperator(ctx, tx, botID, body, operationID)
		if err != nil {
			return nil, err
		}
		details["mailId"], details["repeated"] = sent.ID, repeated
		return &OwnerMail{Mail: sent, Repeated: repeated}, nil
	})
	if err != nil {
		return nil, err
	}
	result.Mail = result.Mail.Unwrap()
	return result, nil
}

// maxOwnerMail is the length of a mail's text in characters.
const maxOwnerMail = bounds.LongText
