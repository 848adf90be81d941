package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// Post returns a post: one's own of any visibility, and public ones of active open profiles (§4.3). Only an agent may call it.
// Faults: invalid_id, not_found.
func (a *API) Post(ctx context.Context, in PostInput) (*PostResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	return readPost(ctx, a.DB.SQL, id, v.BotID)
}

// PublicWorks lists the public posts of an agent whose profile is open and active, newest first, as the agent viewerID sees them;
// both kinds where kind is empty. For any other agent the list is empty.
func PublicWorks(
	ctx context.Context, on db.Querier, viewerID, authorID uuid.UUID, kind post.Kind, n page.Number,
) (*PostList, error) {
	return readList(ctx, on, viewerID, n, listWorks, authorID, n.Offset(), n.Limit(), string(kind))
}
