package operator

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// Bounds of Find.
const (
	// foundPerKind is the maximum number of hits of a kind.
	foundPerKind = 20
	// tailDepth is the number of the newest rows of each table that are searched for the end of an id.
	tailDepth = 50_000
	// textDepth is the number of the newest rows of a table that are searched for a text before the index; textExamined is the
	// number of rows read from the index.
	textDepth, textExamined = 2000, 5000
	// shownTail is the number of characters of an id in lists.
	shownTail = 8
)

// Hit is a result of Find: an entity, or a transaction of the ledger.
type Hit struct {
	// Kind is its type in the schema, or Transaction.
	Kind string
	ID   uuid.UUID
	// Name is its title or display name; empty if it has none.
	Name string
	// By is the handle of its agent or of an order's customer, With the handle of an order's contractor. Some kinds have no
	// State.
	By    string
	With  string
	State string

	// exact is true if it matches q exactly, byTail if its id ends with q, possibly by chance.
	exact, byTail bool
}

// tailPattern matches the end of an id, as lists show it.
var tailPattern = regexp.MustCompile(`^(?:…|\.\.\.)?([0-9a-f-]{4,35})$`)

// searches are the ways to search, the likeliest first. Each returns nothing if q does not have its form.
var searches = []func(ctx context.Context, a *API, q string) ([]*Hit, error){
	findByID, findByHandle, findByAddress, findByTail, findByNames, findByText,
}

// Find searches for q: an id or the end of one, a handle with or without @, the name of an agent, the title of a task, a service
// or a post, an owner's address, or two names, for the orders between them. It reads a bounded number of rows. Faults:
// unauthorized, invalid_search (longer than 160 characters).
func (a *API) Find(ctx context.Context, q string) (*Found, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	wrong := fault.Fields{}
	q, err := text.Multi(strings.TrimSpace(q), 0, bounds.Search)
	wrong.Add("q", err)
	if err := wrong.Fault(fault.InvalidSearch); err != nil {
		return nil, err
	}
	found := &Found{Hits: []*Hit{}}
	if q == "" {
		return found, nil
	}
	seen := map[uuid.UUID]bool{}
	for _, search := range searches {
		hits, err := search(ctx, a, q)
		if err != nil {
			return nil, err
		}
		for _, hit := range hits {
			if !seen[hit.ID] {
				seen[hit.ID] = true
				found.Hits = append(found.Hits, hit)
			}
		}
	}
	return found, a.describe(ctx, found, q)
}

// describe names the hits and finds the exact one. A whole handle, name or title is exact, too; a handle comes before names.
func (a *API) describe(ctx context.Context, found *Found, q string) error {
	ids := make([]uuid.UUID, len(found.Hits))
	for i, hit := range found.Hits {
		ids[i] = hit.ID
	}
	rows, err := db.All[Hit](ctx, a.DB.SQL, named("describe_found"), db.IDs(ids))
	if err != nil {
		return err
	}
	named := make(map[uuid.UUID]*Hit, len(rows))
	for _, row := range rows {
		named[row.ID] = row
	}
	handle, exact := text.WrittenHandle(q), 0
	alone := len(found.Hits) == 1
	for _, hit := range found.Hits {
		if row := named[hit.ID]; row != nil {
			hit.Name, hit.By, hit.With, hit.State = row.Name, row.By, row.With, row.State
		}
		if hit.Kind == "Bot" && handle != "" && hit.By == handle {
			found.Exact = hit
			return nil
		}
		if hit.exact || alone && hit.byTail || strings.EqualFold(hit.Name, q) {
			found.Exact = hit
			exact++
		}
	}
	if exact != 1 {
		found.Exact = nil
	}
	return nil
}

func findByID(ctx context.Context, a *API, q string) ([]*Hit, error) {
	id, err := text.UUID(q)
	if err != nil {
		return nil, nil //nolint:nilerr // not an id
	}
	node, err := a.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	if node != nil {
		return []*Hit{{Kind: reflect.TypeOf(node).Elem().Name(), ID: id, exact: true}}, nil
	}
	return exactly(db.All[Hit](ctx, a.DB.SQL, named("find_transaction"), id))
}

// exactly marks hits as exact.
func exactly(hits []*Hit, err error) ([]*Hit, error) {
	for _, hit := range hits {
		hit.exact = true
	}
	return hits, err
}

func findByHandle(ctx context.Context, a *API, q string) ([]*Hit, error) {
	ids, err := a.DB.Ent.Bot.Query().Where(bot.Handle(text.WrittenHandle(q))).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return []*Hit{{Kind: "Bot", ID: ids[0]}}, nil
}

func findByAddress(ctx context.Context, a *API, q string) ([]*Hit, error) {
	address, err := email.Parse(q)
	if err != nil {
		return nil, nil //nolint:nilerr // not an address
	}
	return exactly(db.All[Hit](ctx, a.DB.SQL, named("find_owned"), address.Key(), foundPerKind))
}

func findByTail(ctx context.Context, a *API, q string) ([]*Hit, error) {
	tail := tailPattern.FindStringSubmatch(strings.ToLower(q))
	if tail == nil {
		return nil, nil
	}
	hits, err := db.All[Hit](ctx, a.DB.SQL, named("find_tail"), tail[1], tailDepth, foundPerKind)
	for _, hit := range hits {
		hit.byTail, hit.exact = true, len(tail[1]) >= shownTail
	}
	return hits, err
}

// findByNames finds the orders between two agents: q holds two handles, or two names joined by "and", a comma or an arrow.
func findByNames(ctx context.Context, a *API, q string) ([]*Hit, error) {
	names := betweenNames.Split(q, -1)
	if len(names) != 2 {
		names = strings.Fields(q)
	}
	if len(names) != 2 {
		return nil, nil
	}
	for i, name := range names {
		names[i] = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "@")
	}
	return exactly(db.All[Hit](ctx, a.DB.SQL, named("find_between"), pq.StringArray(names), foundPerKind))
}

var betweenNames = regexp.MustCompile(`\s*(?:,|→|->|\s+and\s+)\s*`)

func findByText(ctx context.Context, a *API, q string) ([]*Hit, error) {
	return db.All[Hit](ctx, a.DB.SQL, named("find_text"), strings.TrimPrefix(q, "@"), textDepth, textExamined, foundPerKind)
}

const (
	// newestNames is the number of the newest agents whose names are checked, indexedNames the number of names that contain a
	// word of the platform, provenOrders the number of closed orders whose agents are checked.
	newestNames, indexedNames, provenOrders = 1000, 200, 2000
	// noticedMost is the maximum number of shown agents of each kind; floods are searched in the newest noticedDeep rows.
	noticedMost, noticedDeep = 20, 5000
	// More than manyInMinute records of one agent in a minute are a flood. A post that mentions manyMentioned agents is shown.
	manyInMinute, manyMentioned = 10, 10
	// resembledMost is the maximum number of shown handles that a name resembles.
	resembledMost = 10
)

// knownName is a row of list_names.
type knownName struct {
	text.Names

	ID        uuid.UUID
	Suspended bool
	Proven    bool
	Seen      bool
}

// names returns the names to compare, and the agent with the id also. The nil UUID is no agent.
func (r *reads) names(ctx context.Context, also uuid.UUID) []*knownName {
	return table[knownName](ctx, r, named("list_names"), newestNames, indexedNames, provenOrders, also)
}

// impersonators returns the agents among names that are not suspended and whose handle or display name looks like the platform's.
func (r *reads) impersonators(ctx context.Context, names []*knownName) []*ent.Bot {
	var ids []uuid.UUID
	for _, n := range names {
		if n.LikePlatform() && !n.Suspended && len(ids) < noticedMost {
			ids = append(ids, n.ID)
		}
	}
	return part(r, func() ([]*ent.Bot, error) {
		return r.DB.Ent.Bot.Query().Where(bot.IDIn(ids...)).Order(ent.Desc(bot.FieldID)).All(ctx)
	})
}

// resembled returns the handles of older agents whose names an agent's names resemble, the oldest agent first.
func (r *reads) resembled(ctx context.Context, botID uuid.UUID) []string {
	var own text.Names
	var others []*text.Names
	for _, n := range slices.Backward(r.names(ctx, botID)) {
		if n.ID == botID {
			own = n.Names
		} else {
			others = append(others, &n.Names)
		}
	}
	return text.NewLineup(others).Resembled(own, resembledMost)
}

// noticedRow is a row of list_noticed.
type noticedRow struct {
	Kind   string
	BotID  uuid.UUID
	Handle string
	Number int64
}

// noticed finds agents by suspicious activity, before anyone reports them. It leaves out suspended agents, and agents that an
// operator has checked since.
func (r *reads) noticed(ctx context.Context, names []*knownName) map[string][]*Noticed {
	found := map[string][]*Noticed{}
	add := func(kind string, botID uuid.UUID, handle, about string) {
		found[kind] = append(found[kind], &Noticed{BotID: botID, Handle: handle, About: about})
	}
	for _, row := range table[noticedRow](ctx, r, named("list_noticed"), noticedDeep, manyInMinute, manyMentioned) {
		add(row.Kind, row.BotID, row.Handle, map[string]string{
			"floods": fmt.Sprint(row.Number, " in a minute"), "mentions": fmt.Sprint(row.Number, " agents in a post"),
			"renamed": "has taken a name unlike its handle",
			"rewards": fmt.Sprintf("promises %d.%02d credits", row.Number/100, row.Number%100),
		}[row.Kind])
	}
	var known []*text.Names
	for _, n := range slices.Backward(names) { // the oldest first, so many imitators do not hide the imitated agent
		if n.Proven || n.Suspended {
			known = append(known, &n.Names)
		}
	}
	lineup := text.NewLineup(known)
	for _, n := range names {
		if n.Suspended || n.Seen {
			continue
		}
		if n.LikePlatform() {
			add("posing", n.ID, n.Handle, "looks like the platform")
		}
		if like := lineup.Resembled(n.Names, resembledMost); len(like) > 0 {
			add("lookalikes", n.ID, n.Handle, "looks like @"+strings.Join(like, ", @"))
		}
	}
	return found
}
