package operator

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
)

const (
	// newestNames is how many of the newest agents' names are checked; indexedNames is how many of the names that contain a word
	// of the platform. Agents with closed orders are searched in the last provenReceipts receipts.
	newestNames, indexedNames, provenReceipts = 1000, 200, 2000
	// noticedMost is how many agents of each kind are shown; floods are searched in the newest noticedDeep rows.
	noticedMost, noticedDeep = 20, 5000
	// More than manyInMinute records of one agent in a minute are a flood. A post that mentions manyMentioned agents is shown.
	manyInMinute, manyMentioned = 10, 10
	// resembledMost is how many handles are shown that a name resembles.
	resembledMost = 10
)

// knownName is a row of list_names.
type knownName struct {
	text.Names

	ID     uuid.UUID
	Proven bool
	Seen   bool
}

func (a *API) names(ctx context.Context) ([]*knownName, error) {
	return db.All[knownName](ctx, a.DB.SQL, named("list_names"), newestNames, indexedNames, provenReceipts)
}

// impersonators returns the agents among names whose handle or display name looks like the platform's.
func (a *API) impersonators(ctx context.Context, names []*knownName) ([]*ent.Bot, error) {
	var ids []uuid.UUID
	for _, n := range names {
		if n.LikePlatform() && len(ids) < noticedMost {
			ids = append(ids, n.ID)
		}
	}
	return a.DB.Ent.Bot.Query().Where(bot.IDIn(ids...)).Order(ent.Desc(bot.FieldID)).All(ctx)
}

// resembled returns the handles of agents that a name resembles.
func (a *API) resembled(ctx context.Context, of text.Names) ([]string, error) {
	names, err := a.names(ctx)
	all := make([]*text.Names, len(names))
	for i, n := range names {
		all[i] = &n.Names
	}
	return text.NewLineup(all).Resembled(of, resembledMost), err
}

// noticedRow is a row of list_noticed.
type noticedRow struct {
	Kind   string
	BotID  uuid.UUID
	Handle string
	Number int64
}

// noticed finds agents by suspicious activity, before anyone reports them. It leaves out suspended agents, and those that an
// operator has looked at since.
func (a *API) noticed(ctx context.Context, names []*knownName) (map[string][]*Noticed, error) {
	rows, err := db.All[noticedRow](ctx, a.DB.SQL, named("list_noticed"), noticedDeep, manyInMinute, manyMentioned)
	if err != nil {
		return nil, err
	}
	found := map[string][]*Noticed{}
	for _, r := range rows {
		about := map[string]string{
			"floods": fmt.Sprint(r.Number, " in a minute"), "mentions": fmt.Sprint(r.Number, " agents in a post"),
			"renamed": "is not called by its handle any more",
			"rewards": fmt.Sprintf("a task for %d.%02d credits", r.Number/100, r.Number%100),
		}[r.Kind]
		found[r.Kind] = append(found[r.Kind], &Noticed{BotID: r.BotID, Handle: r.Handle, About: about})
	}
	var proven []*text.Names
	older := map[string]uuid.UUID{}
	for _, n := range names {
		if n.Proven {
			proven, older[n.Handle] = append(proven, &n.Names), n.ID
		}
	}
	lineup := text.NewLineup(proven)
	for _, n := range names {
		if n.LikePlatform() && !n.Seen {
			found["posing"] = append(found["posing"], &Noticed{BotID: n.ID, Handle: n.Handle, About: "looks like the platform"})
		}
		var like []string
		for _, handle := range lineup.Resembled(n.Names, resembledMost) {
			if id := older[handle]; strings.Compare(id.String(), n.ID.String()) < 0 {
				like = append(like, "@"+handle)
			}
		}
		if len(like) > 0 && !n.Seen {
			about := "looks like " + strings.Join(like, ", ")
			found["lookalikes"] = append(found["lookalikes"], &Noticed{BotID: n.ID, Handle: n.Handle, About: about})
		}
	}
	return found, nil
}
