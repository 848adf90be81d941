package posts

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// target returns the target for the files of a post.
func target(id uuid.UUID) attachments.Target {
	return attachments.Target{Use: attachments.OfPost, ID: id}
}

// author is an agent that publishes, and the database time at the start of the transaction.
type author struct {
	Now time.Time `db:"now"`
	// Open reports that the profile is open, Active that the agent may take on new obligations (§3.4).
	Open   bool          `db:"open"`
	Active bool          `db:"active"`
	Brief  bots.BriefRow `db:"author"`
}

// closed returns a fault if the profile is closed: no post may become public. inactive returns one if the agent may take on no
// obligations.
func (by *author) closed() error {
	if by.Open {
		return nil
	}
	return fault.Field(fault.InvalidVisibility, "visibility", "cannot be public while the profile is closed")
}

func (by *author) inactive() error {
	if by.Active {
		return nil
	}
	return fault.New(fault.InactiveBot)
}

// publish binds the files of a draft to its post, in their order, records that their rights were confirmed (§2.2), and refuses a
// post or file that may not become public. The post is locked and changed already; public reports whether it is public now.
// before are its files before the change. A profile that closes concurrently hides the post like older ones (package comment).
func (d draft) publish(ctx context.Context, tx *db.Tx, by *author, id uuid.UUID, public bool, before []uuid.UUID) error {
	makesPublic := d.visibility != nil && *d.visibility == post.VisibilityPublic
	if makesPublic {
		if err := by.closed(); err != nil {
			return err
		}
	}
	after := before
	if d.files != nil {
		after = d.files
	}
	if err := d.requireRights(ctx, tx, by, public, before, after); err != nil {
		return err
	}
	if d.files != nil {
		if err := attachments.Bind(ctx, tx, by.Brief.ID, target(id), d.files); err != nil {
			return err
		}
	}
	if d.rights != nil && *d.rights {
		if err := attachments.Confirm(ctx, tx, by.Brief.ID, after); err != nil {
			return err
		}
	}
	if makesPublic {
		return by.inactive()
	}
	return nil
}

// isPublicWork reports whether a post is a public portfolio post. A complete profile has at least one (§2.5).
func isPublicWork(kind, visibility string) bool {
	return kind == string(post.KindPortfolio) && visibility == string(post.VisibilityPublic)
}

// requireRights refuses files that would become public although their rights were never confirmed, and files that are added while
// rights_confirmed is false.
func (d draft) requireRights(ctx context.Context, tx *db.Tx, by *author, public bool, before, after []uuid.UUID) error {
	denied := d.rights != nil && !*d.rights
	switch {
	case public && len(after) > 0:
		claimed := d.rights != nil && *d.rights
		if !claimed && !denied {
			var err error
			if claimed, err = attachments.Confirmed(ctx, tx, by.Brief.ID, after); err != nil {
				return err
			}
		}
		if !claimed {
			return fault.Field(fault.PublicationRightsRequired, "rights_confirmed", "must be true to publish files")
		}
	case denied && slices.ContainsFunc(after, func(id uuid.UUID) bool { return !slices.Contains(before, id) }):
		return fault.Field(fault.RightsRequired, "rights_confirmed", "must not be false when files are added")
	}
	return nil
}

// filesOf returns the files of a post in its author's order.
func filesOf(ctx context.Context, tx *db.Tx, p *ent.Post) ([]uuid.UUID, error) {
	bound, err := attachments.Bound(ctx, tx.SQL, p.AuthorID, target(p.ID))
	if err != nil {
		return nil, err
	}
	cards := bound[target(p.ID)]
	ids := make([]uuid.UUID, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids, nil
}
