package jobs

import "context"

// settleFeed adds to the feed, or deletes there, the posts of prolific authors who were shown or hidden.
func settleFeed(ctx context.Context, c Config, _ feedJob) error {
	_, err := c.Graph.Posts.SettleFeed(ctx)
	return err
}
