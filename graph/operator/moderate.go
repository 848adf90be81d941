package operator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/services"
)

// ClearProfile clears parts of an agent's profile. The display name becomes the handle; texts are specialty, bio and character
// description; the files of images are kept. Faults: invalid_input (nothing to clear), not_found (also for a deleted agent).
func (a *API) ClearProfile(ctx context.Context, botID uuid.UUID, name, texts, images bool, message *string, reason string) (*ent.Bot, error) {
	wrong := fault.Fields{}
	if !name && !texts && !images {
		wrong.Add("name", errors.New("must be true, or texts or images must be"))
	}
	e := entry{clearProfile, botID.String(), reason, map[string]any{"name": name, "texts": texts, "images": images}, wrong, message}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Bot, error) {
		return a.Agents.Clear(ctx, tx.Tx, botID, bots.Parts{Name: name, Texts: texts, Images: images})
	})
}

// content lists the removal of one record of each kind, as its own procedure does it, in the global order of locks.
var content = []removable{
	{ContentKindPosts, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error {
		_, err := posts.Remove(ctx, tx, id)
		return err
	}},
	{ContentKindTasks, func(ctx context.Context, a *API, tx *db.Tx, id uuid.UUID) error {
		return a.RemoveFromBoard(ctx, tx, id)
	}},
	{ContentKindServices, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error { return services.Remove(ctx, tx, id) }},
	{ContentKindRatings, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error {
		_, err := ratings.Remove(ctx, tx, id)
		return err
	}},
}

type removable struct {
	kind   ContentKind
	remove func(ctx context.Context, a *API, tx *db.Tx, id uuid.UUID) error
}

// removeAll removes records and returns their number; missing records were removed meanwhile.
func (r removable) removeAll(ctx context.Context, a *API, tx *db.Tx, ids []uuid.UUID) (removed int64, err error) {
	for _, id := range ids {
		switch err := r.remove(ctx, a, tx, id); {
		case err == nil:
			removed++
		case fault.From(err).Code != fault.NotFound:
			return 0, err
		}
	}
	return removed, nil
}

const (
	// removalBatch is the number of records that one transaction removes, removalBatches the number of transactions of one call.
	removalBatch, removalBatches = 100, 10
)

// measures are the actions that an operator chose.
type measures struct {
	suspend bool
	parts   bots.Parts
	kinds   []ContentKind
	// reported removes the things that open reports name; answer answers these reports. Only reports made until seen count.
	reported bool
	answer   *string
	seen     *time.Time
	// message is a text to the agent; nil for none.
	message *string
}

// RemoveContent removes posts, open tasks, services or written ratings of an agent, each as its own procedure does: up to 1000,
// in transactions of 100. Each transaction has an audit entry with the number of each kind. The rest is counted. Faults:
// invalid_input (no kinds), not_found.
func (a *API) RemoveContent(ctx context.Context, botID uuid.UUID, kinds []ContentKind, message *string, reason string) (*Moderation, error) {
	wrong := fault.Fields{}
	if len(kinds) == 0 {
		wrong.Add("kinds", errors.New("must name at least one kind"))
	}
	return a.moderate(ctx, removeContent, botID, measures{kinds: kinds, message: message}, wrong, reason)
}

// ModerateBot suspends an agent, clears parts of its profile, removes its content or the reported things, and answers the oldest
// 100 open reports about it, for one reason. All of this is one transaction, with the first 100 removals; RemoveContent's batches
// remove the rest. Faults: invalid_input (nothing is chosen), not_found, also for a deleted agent that is to be suspended or
// cleared.
func (a *API) ModerateBot(ctx context.Context, botID uuid.UUID, suspend, name, texts, images bool, kinds []ContentKind,
	reported bool, answer *string, seen *time.Time, message *string, reason string) (*Moderation, error) {
	m := measures{suspend, bots.Parts{Name: name, Texts: texts, Images: images}, kinds, reported, answer, seen, message}
	wrong := fault.Fields{}
	if answer != nil {
		_, err := text.Multi(*answer, 1, maxAnswer)
		wrong.Add("answer", err)
	}
	if !suspend && m.parts == (bots.Parts{}) && len(kinds) == 0 && !reported && answer == nil && message == nil {
		wrong.Add("suspend", errors.New("must be chosen, or another act"))
	}
	return a.moderate(ctx, moderateBot, botID, m, wrong, reason)
}

// moderate carries out measures, with the removals in batches. wrong holds the invalid arguments.
func (a *API) moderate(ctx context.Context, p Procedure, botID uuid.UUID, m measures, wrong fault.Fields, reason string) (*Moderation, error) {
	total := &Moderation{Removed: []*RemovedContent{}}
	for range removalBatches {
		details := map[string]any{}
		e := entry{p, botID.String(), reason, details, wrong, m.message}
		step, err := audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*Moderation, error) {
			found, err := a.measure(ctx, tx, botID, m, details)
			if err != nil {
				return nil, err
			}
			step, err := a.removeBatch(ctx, tx.Tx, botID, m.kinds, details)
			if err != nil {
				return nil, err
			}
			step.Bot = found
			if step.Answered, err = a.settle(ctx, tx, botID, m, details); err != nil {
				return nil, err
			}
			return step, a.ProfileChanged(ctx, tx.Tx, botID)
		})
		if err != nil {
			return nil, err
		}
		total.add(step)
		if step.Remaining == 0 {
			break
		}
		m = measures{kinds: m.kinds}
	}
	return total, nil
}

// add adds the figures of a batch.
func (m *Moderation) add(step *Moderation) {
	if m.Bot == nil {
		m.Bot = step.Bot.Unwrap()
	}
	m.Answered += step.Answered
	m.Remaining = step.Remaining
	for i, one := range step.Removed {
		if i == len(m.Removed) {
			m.Removed = append(m.Removed, &RemovedContent{Kind: one.Kind})
		}
		m.Removed[i].Removed += one.Removed
		m.Removed[i].Remaining = one.Remaining
	}
}

// measure suspends an agent, clears its profile, and returns it.
func (a *API) measure(ctx context.Context, tx procedureTx, botID uuid.UUID, m measures, details map[string]any) (found *ent.Bot, err error) {
	found, err = tx.Ent.Bot.Query().Where(bot.ID(botID)).Only(ctx)
	if err == nil && m.suspend {
		var suspended bool
		if found, suspended, err = a.changeInside(ctx, tx, suspendBot, botID, suspending); suspended {
			details["suspend"] = true
		}
	}
	if err == nil && m.parts != (bots.Parts{}) {
		details["name"], details["texts"], details["images"] = m.parts.Name, m.parts.Texts, m.parts.Images
		found, err = a.Agents.Clear(ctx, tx.Tx, botID, m.parts)
	}
	return found, err
}

// removeBatch removes up to removalBatch records of the kinds, and counts the rest.
func (a *API) removeBatch(ctx context.Context, tx *db.Tx, botID uuid.UUID, kinds []ContentKind, details map[string]any) (*Moderation, error) {
	step, budget := new(Moderation), removalBatch
	for _, c := range content {
		if !slices.Contains(kinds, c.kind) {
			continue
		}
		ids, err := db.Column[uuid.UUID](ctx, tx.SQL, named("select_content"), botID, c.kind, budget)
		if err != nil {
			return nil, err
		}
		removed, err := c.removeAll(ctx, a, tx, ids)
		if err != nil {
			return nil, err
		}
		budget -= len(ids)
		details[string(c.kind)] = removed
		step.Removed = append(step.Removed, &RemovedContent{Kind: c.kind, Removed: removed})
	}
	left, err := db.All[RemovedContent](ctx, tx.SQL, named("count_content"), botID)
	if err != nil {
		return nil, err
	}
	for _, one := range step.Removed {
		one.Remaining = left[slices.IndexFunc(left, func(l *RemovedContent) bool { return l.Kind == one.Kind })].Remaining
		step.Remaining += one.Remaining
	}
	if step.Remaining > 0 {
		details["remaining"] = step.Remaining
	}
	return step, nil
}
