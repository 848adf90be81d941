package operator

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// maxReason and maxMessage are the lengths of a reason and of a message to an agent, in characters.
const maxReason, maxMessage = bounds.Reason, bounds.Reason

// entry holds the fields of an entry of the audit log except the operator and the time.
type entry struct {
	procedure Procedure
	target    string
	reason    string
	// details are the arguments, without secrets; do may add results.
	details map[string]any
	// wrong holds the invalid arguments.
	wrong fault.Fields
	// message is for the target agent or the target's agent; nil for none.
	message *string
}

// concerned holds the target agent or the target's agent (for an order the customer), and the subject of a notice to the agent.
type concerned struct {
	BotID     *uuid.UUID
	AboutType string
	AboutID   uuid.UUID
}

// concerned returns no agent for a target that is not an entity.
func (e entry) concerned(ctx context.Context, tx *db.Tx) (*concerned, error) {
	id, err := uuid.Parse(e.target)
	if err != nil {
		return new(concerned), nil //nolint:nilerr // this target belongs to no agent
	}
	found, err := db.Find[concerned](ctx, tx.SQL, named("select_concerned"), e.procedure.Target, id)
	return cmp.Or(found, new(concerned)), err
}

// notify writes the message to the agent, or returns the reason why not.
func (a *API) notify(ctx context.Context, tx *db.Tx, to *concerned, message string, now time.Time) (unsent string, err error) {
	held, err := db.Column[uuid.UUID](ctx, tx.SQL, named("lock_concerned"), to.BotID)
	if err != nil {
		return "", err
	}
	if len(held) == 0 {
		return "its agent is deleted", nil
	}
	id := uuid.Must(uuid.NewV7())
	made, err := db.Column[uuid.UUID](ctx, tx.SQL, named("insert_notice"), id, now, to.BotID, to.AboutType, to.AboutID, message)
	if err != nil {
		return "", err
	}
	if len(made) == 0 {
		return "the same within a day", nil
	}
	return "", a.Outbox.Add(ctx, tx, events.Event{
		Recipient: *to.BotID, Kind: events.OperatorNotice, Payload: events.NoticePayload{NoticeID: id},
	})
}

// checkMessage adds the message to the details. It drops an empty message.
func (e *entry) checkMessage() {
	if e.message == nil || *e.message == "" {
		e.message = nil
		return
	}
	requireText(e.wrong, "message", *e.message, maxMessage, "must say something")
	e.details["message"] = *e.message
}

// requireText checks a field with text of up to longest characters. blank is the complaint about white space alone.
func requireText(wrong fault.Fields, field, sent string, longest int, blank string) {
	_, err := text.Multi(sent, 1, longest)
	if err == nil && strings.TrimSpace(sent) == "" {
		err = errors.New(blank)
	}
	wrong.Add(field, err)
}

// authorize returns unauthorized unless the caller is an operator, then invalid_input if the reason or another argument is wrong.
func authorize(ctx context.Context, reason string, wrong fault.Fields) error {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return err
	}
	requireText(wrong, "reason", reason, maxReason, "must say why")
	return wrong.Fault(fault.InvalidInput)
}

// procedureTx is the transaction of a procedure, with its time.
type procedureTx struct {
	*db.Tx

	now time.Time
}

// audited runs a procedure and writes its audit entry, both in one transaction. A returned entity can be read afterwards. Faults:
// first as authorize, then as the procedure; not_found, which reports if the target was removed before.
func audited[Result any](ctx context.Context, a *API, e entry, do func(context.Context, procedureTx) (Result, error)) (Result, error) {
	var result Result
	if e.details == nil {
		e.details = map[string]any{}
	}
	if e.wrong == nil {
		e.wrong = fault.Fields{}
	}
	e.checkMessage()
	err := authorize(ctx, e.reason, e.wrong)
	if err != nil {
		return result, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		delete(e.details, "unsent")        // from an attempt that was rolled back
		about, err := e.concerned(ctx, tx) // do may delete the target
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if result, err = do(ctx, procedureTx{tx, now}); err != nil {
			if about.BotID != nil && fault.From(err).Code == fault.NotFound {
				err = fault.Wrap(fault.NotFound, err).Say("It was removed or deleted before.")
			}
			return err
		}
		if e.message != nil {
			unsent, err := a.notify(ctx, tx, about, *e.message, now)
			if err != nil {
				return err
			}
			if unsent != "" {
				e.details["unsent"] = unsent
			}
		}
		return tx.Ent.AuditEntry.Create().SetOperator(viewer.From(ctx).Name).SetProcedure(e.procedure.Name).SetTarget(e.target).SetNillableBotID(about.BotID).
			SetReason(e.reason).SetDetails(e.details).SetCreatedAt(now).Exec(ctx)
	})
	if err != nil {
		var none Result
		return none, err
	}
	if entity, ok := any(result).(interface{ Unwrap() Result }); ok {
		result = entity.Unwrap()
	}
	return result, nil
}

// recordEntry writes the audit entry of an act outside its transaction. Faults: as authorize.
func (a *API) recordEntry(ctx context.Context, e entry) error {
	_, err := audited(ctx, a, e, func(context.Context, procedureTx) (struct{}, error) { return struct{}{}, nil })
	return err
}

// jobsReason is the reason of actions on the jobs dashboard, which does not ask for one.
const jobsReason = "from the jobs dashboard"

// exportList is the procedure that exports a private list. It is no mutation: the pages of the console write the rows.
var exportList = Procedure{Name: "exportList"}

// AuditExport writes the audit entry of an export of a private list; details holds its filters and number of rows. The export
// begins after the entry is committed. Faults: unauthorized, invalid_input for a wrong reason.
func (a *API) AuditExport(ctx context.Context, list string, details map[string]any, reason string) error {
	return a.recordEntry(ctx, entry{exportList, list, reason, details, nil, nil})
}

// AuditJobs writes the audit entry of an operator's action on jobs or queues. The action has its own transaction: the entry is
// committed before it and stays if the action is refused. Faults: unauthorized.
func (a *API) AuditJobs(ctx context.Context, action, target string, details map[string]any) error {
	return a.recordEntry(ctx, entry{Procedure{Name: "jobs." + action}, target, jobsReason, details, nil, nil})
}
