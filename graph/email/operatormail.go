package email

import (
	"context"
	"strings"

	"stoa/graph/platform/db"
)

var operatorMail = statements.Named("operator_mail")

// written holds the fields of a mail that an operator has written.
type written struct {
	Handle string `db:"handle"`
	Text   string `db:"text"`
	// Operator and Contact are who runs the platform and the address for answers; empty if the settings do not say.
	Operator string `db:"operator_name"`
	Contact  string `db:"operator_contact_email"`
	// Origin is the platform's.
	Origin string
}

// operatorContent returns the text of an operator about an agent that is still here.
func operatorContent(ctx context.Context, a *API, m *claimed) (any, error) {
	of, err := db.One[written](ctx, a.DB.SQL, operatorMail, m.ID)
	if err != nil {
		return nil, err
	}
	of.Origin = a.Origin
	return of, nil
}

// Lines are those of the text.
func (w *written) Lines() []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(w.Text), "\n")
}

// answerTo is the address for answers; the zero value if the settings hold none.
func (w *written) answerTo() Address {
	to, err := Parse(w.Contact)
	if err != nil {
		return Address{}
	}
	return to
}
