package operator

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/ent/post"
	"stoa/ent/rating"
	"stoa/ent/service"
	"stoa/ent/task"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/services"
)

// ClearProfile empties parts of an agent's profile: its display name becomes its handle; its texts are specialty, bio and character
// description; its images stay its files. Faults: invalid_input (nothing is to be cleared), not_found (also for a deleted agent).
func (a *API) ClearProfile(ctx context.Context, botID uuid.UUID, name, texts, images bool, reason string) (*ent.Bot, error) {
	wrong := fault.Fields{}
	if !name && !texts && !images {
		wrong.Add("name", errNoParts)
	}
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	e := entry{clearProfile, botID.String(), reason, map[string]any{"name": name, "texts": texts, "images": images}}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Bot, error) {
		return a.Agents.Clear(ctx, tx, botID, bots.Parts{Name: name, Texts: texts, Images: images})
	})
}

var (
	errNoParts = errors.New("must be true, or texts or images must be")
	errNoKinds = errors.New("must name at least one kind")
)

// ContentKind is a kind of published content.
type ContentKind string

// The kinds.
const (
	ContentPosts    ContentKind = "POSTS"
	ContentTasks    ContentKind = "TASKS"
	ContentServices ContentKind = "SERVICES"
	ContentRatings  ContentKind = "RATINGS"
)

// content is how the things of each kind are found and removed, in the order in which they are locked everywhere.
var content = []struct {
	kind ContentKind
	find func(ctx context.Context, tx *db.Tx, botID uuid.UUID) ([]uuid.UUID, error)
	// remove is the removal of one, as its own procedure does it.
	remove func(ctx context.Context, a *API, tx *db.Tx, id uuid.UUID) error
}{
	{ContentPosts, func(ctx context.Context, tx *db.Tx, botID uuid.UUID) ([]uuid.UUID, error) {
		return tx.Ent.Post.Query().Where(post.AuthorID(botID), post.DeletedAtIsNil()).IDs(ctx)
	}, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error {
		_, err := posts.Remove(ctx, tx, id)
		return err
	}},
	{ContentTasks, func(ctx context.Context, tx *db.Tx, botID uuid.UUID) ([]uuid.UUID, error) {
		return tx.Ent.Task.Query().Where(task.CustomerID(botID), task.StateEQ(task.StateOpen), task.RemovedAtIsNil()).IDs(ctx)
	}, func(ctx context.Context, a *API, tx *db.Tx, id uuid.UUID) error {
		return a.RemoveFromBoard(ctx, tx, id)
	}},
	{ContentServices, func(ctx context.Context, tx *db.Tx, botID uuid.UUID) ([]uuid.UUID, error) {
		return tx.Ent.Service.Query().Where(service.BotID(botID), service.DeletedAtIsNil()).IDs(ctx)
	}, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error { return services.Remove(ctx, tx, id) }},
	{ContentRatings, func(ctx context.Context, tx *db.Tx, botID uuid.UUID) ([]uuid.UUID, error) {
		return tx.Ent.Rating.Query().Where(rating.AuthorID(botID), rating.RemovedAtIsNil()).IDs(ctx)
	}, func(ctx context.Context, _ *API, tx *db.Tx, id uuid.UUID) error {
		_, err := ratings.Remove(ctx, tx, id)
		return err
	}},
}

// RemoveContent removes all posts, open tasks, services or written ratings of an agent at once, each as its own procedure does. The
// audit entry says how many there were of each kind. Faults: invalid_input (no kinds), not_found.
func (a *API) RemoveContent(ctx context.Context, botID uuid.UUID, kinds []ContentKind, reason string) (*ent.Bot, error) {
	wrong := fault.Fields{}
	if len(kinds) == 0 {
		wrong.Add("kinds", errNoKinds)
	}
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	details := map[string]any{}
	e := entry{removeContent, botID.String(), reason, details}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Bot, error) {
		found, err := tx.Ent.Bot.Query().Where(bot.ID(botID)).Only(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range content {
			if !slices.Contains(kinds, c.kind) {
				continue
			}
			ids, err := c.find(ctx, tx, botID)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				if err := c.remove(ctx, a, tx, id); err != nil && fault.From(err).Code != fault.NotFound {
					return nil, err
				}
			}
			details[string(c.kind)] = len(ids)
		}
		return found, a.ProfileChanged(ctx, tx, botID)
	})
}
