package text

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"
)

var errAt = errors.New("must not hold @ or a character that looks like it: people would read a handle")

// atSigns holds characters that look like @ but that compatibility normalization does not map to it: an a in a circle or square,
// a circle around the letter before it, and the invisible tag of @.
const atSigns = "@ⓐⒶ🅐🄰🅰⒜\u20DD\u20DE\u20E0\u20E3\U000E0040"

// WithoutAt returns an error if a display name holds @ or a character that looks like it (§2.1).
func WithoutAt(name string) error {
	if strings.ContainsAny(name, atSigns) || strings.Contains(norm.NFKC.String(name), "@") {
		return errAt
	}
	return nil
}

// Names are the two names of an agent.
type Names struct {
	Handle, DisplayName string
	// CreatedAt is when the agent took its handle, NamedAt its display name. Of two agents with times only the one that took its
	// name later looks like the other. Without times each looks like the other.
	CreatedAt, NamedAt time.Time
}

// looked caches looks, since each list compares the same friends again: 0.5 instead of 7 ms for 1,000 friends.
var looked, _ = lru.New[string, string](20_000)

// lookOf is look with a cache.
func lookOf(name string) string {
	if known, ok := looked.Get(name); ok {
		return known
	}
	made := look(name)
	looked.Add(name, made)
	return made
}

// look returns the skeleton of a name (UTS #39), regardless of case, accents, spaces, signs and invisible characters; the signs
// of a name with less than two other characters count. Names with equal looks are hard to distinguish.
func look(name string) string {
	name = smallCapitals.Replace(norm.NFKD.String(name))
	if bare := skeleton(name, unicode.P, unicode.S, unicode.Z); utf8.RuneCountInString(bare) > 1 {
		return bare
	}
	return skeleton(name, unicode.Z)
}

// skeleton computes the skeleton twice, because m becomes rn but M stays. A skeleton has l for I, so i becomes l, too.
func skeleton(name string, without ...*unicode.RangeTable) string {
	small := strings.ToLower(confusable.Skeleton(plain(name, without)))
	return strings.ReplaceAll(strings.ToLower(plain(confusable.Skeleton(small), without)), "i", "l")
}

// smallCapitals replaces the letters of phonetics that look like small capitals; the library knows few of them.
var smallCapitals = strings.NewReplacer(strings.Split(
	"ᴀ a ʙ b ᴄ c ᴅ d ᴇ e ꜰ f ɢ g ʜ h ɪ i ᴊ j ᴋ k ʟ l ᴍ m ɴ n ᴏ o ᴘ p ꞯ q ʀ r ꜱ s ᴛ t ᴜ u ᴠ v ᴡ w ʏ y ᴢ z", " ")...)

// plain removes accents, invisible characters, and the characters of some tables.
func plain(name string, without []*unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) || isAccent(r) || unicode.In(r, without...) {
			return -1
		}
		return r
	}, name)
}

// isAccent reports whether r is a mark that does not turn its letter into another one. Marks of one script are vowels, and the
// last two are the sound marks of Japanese.
func isAccent(r rune) bool {
	return unicode.Is(unicode.Me, r) || unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r) && r != '\u3099' && r != '\u309A'
}

// SameLook reports whether two names look the same, or differ in case only.
func SameLook(a, b string) bool {
	return strings.EqualFold(a, b) || lookOf(a) != "" && lookOf(a) == lookOf(b)
}

// taken is the look of a name, and the time when the name was taken.
type taken struct {
	look string
	at   time.Time
}

// looks returns the looks of both names; only the handle's if they are equal. A name of invisible characters has none.
func (n Names) looks() (all []taken) {
	for _, name := range []taken{{n.Handle, n.CreatedAt}, {n.DisplayName, n.NamedAt}} {
		one := lookOf(name.look)
		if one != "" && (len(all) == 0 || all[0].look != one) {
			all = append(all, taken{one, name.at})
		}
	}
	return all
}

// Copies reports whether a handle or display name has the look of one that the other agent took before.
func (n Names) Copies(other Names) bool {
	return n.Handle != other.Handle && slices.ContainsFunc(n.looks(), func(one taken) bool {
		return slices.ContainsFunc(other.looks(), func(first taken) bool { return first.look == one.look && first.at.Before(one.at) })
	})
}

// leastNear is the minimum length of handles that are compared by edit distance.
const leastNear = 5

// near reports whether one insertion, deletion or replacement makes two different handles of at least leastNear characters equal.
func near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < leastNear || len(b)-len(a) > 1 || a == b {
		return false
	}
	same := 0
	for same < len(a) && a[same] == b[same] {
		same++
	}
	return a[same:] == b[same+1:] || len(a) == len(b) && a[same+1:] == b[same+1:]
}

// Lineup finds the agents of a list that another agent looks like (§2.1). It is safe for concurrent use.
type Lineup struct {
	agents []*Names
	looks  map[string][]holder
}

// holder is the place in the lineup of an agent that has a look, and the time when the agent took that name.
type holder struct {
	place int
	at    time.Time
}

// NewLineup makes a lineup of agents.
func NewLineup(agents []*Names) *Lineup {
	l := &Lineup{agents: agents, looks: make(map[string][]holder, 2*len(agents))}
	for i, names := range agents {
		for _, one := range names.looks() {
			l.looks[one.look] = append(l.looks[one.look], holder{i, one.at})
		}
	}
	return l
}

// Resembled returns the handles of up to most agents that these names look like, in the order of the lineup: a handle or display
// name of each has the same look, or the handles are near. An agent does not resemble itself.
func (l *Lineup) Resembled(n Names, most int) []string {
	var found []int
	if len(l.agents) == 0 {
		return []string{}
	}
	for _, one := range n.looks() {
		for _, first := range l.looks[one.look] {
			if !one.at.Before(first.at) {
				found = append(found, first.place)
			}
		}
	}
	for i, other := range l.agents {
		if near(n.Handle, other.Handle) && !n.CreatedAt.Before(other.CreatedAt) {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	handles := []string{}
	for _, i := range slices.Compact(found) {
		if handle := l.agents[i].Handle; handle != n.Handle && len(handles) < most {
			handles = append(handles, handle)
		}
	}
	return handles
}
