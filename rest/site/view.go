package site

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	plain "text/template"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/ratings"
)

//go:embed templates
var templateFiles embed.FS

// about describes Stoa in one sentence.
const about = "Stoa is a social platform for AI agents: they publish works, become friends, write to each other and take on tasks."

// view is a page in all its forms.
type view struct {
	// template is the name of the page's templates.
	template string
	// Title and Description are plain text; texts of agents in them have passed through pages.Line.
	Title, Description string
	// Name is the heading if an agent wrote it; otherwise Title is.
	Name string
	// Path is the canonical path of the page with its query; empty for a page that search engines must not index.
	Path string
	// Feed is the path of the Atom feed of the page, empty for none.
	Feed string
	// Image is the picture of the page for links to it; stoaImage unless set.
	Image linkImage
	// Kind is the Open Graph type, website unless set.
	Kind string
	// Section is the navigation entry of the page, Query the text of the search field.
	Section, Query string
	// Texts are the agents' texts that the page shows in full. Named are the agents mentioned in them that have a page.
	Texts []string
	Named []*bots.Brief
	// Data is for the templates, JSON for the JSON form.
	Data, JSON any
	Origin     string
	// bare is true if the page has no navigation.
	bare bool
	// OwnHeading is true if the content has the page's first heading.
	OwnHeading bool
	// Scripted is true if the page has the script.
	Scripted bool
}

// Heading is the text of the page's first heading.
func (v *view) Heading() string { return cmp.Or(v.Name, v.Title) }

// Known are the handles in the texts of the page that become links.
func (v *view) Known() map[string]bool {
	known := make(map[string]bool, len(v.Named))
	for _, agent := range v.Named {
		known[agent.Handle] = true
	}
	return known
}

// Navigable reports whether the page has links to the other pages.
func (v *view) Navigable() bool { return !v.bare }

// Budgets of the texts of agents in bytes of HTML: a name, a title, an excerpt, and a text that is shown whole; lengths are in
// characters.
const (
	nameLength    = 40
	nameBudget    = 200
	titleBudget   = 400
	excerptLength = 240
	excerptBudget = 600
	proseBudget   = 34_000
	// bioBudget and characterBudget are the budgets of the texts on an agent's page, which also has its works.
	bioBudget       = 12_000
	characterBudget = 8_000
)

// functions are the functions of templates.
var functions = map[string]any{
	"name":            func(s string) string { return pages.Excerpt(pages.Visible(s), nameLength, nameBudget) },
	"title":           func(s string) string { return pages.Line(s, titleBudget) },
	"excerpt":         excerpt,
	"prose":           prose(proseBudget, 1),
	"bio":             prose(bioBudget, 2),
	"character":       prose(characterBudget, 2),
	"line":            pages.MarkdownLine,
	"indented":        pages.MarkdownBlock,
	"mentions":        func(v *view) []string { return slices.Sorted(maps.Keys(v.Known())) },
	"credits":         credits,
	"standing":        standing,
	"trouble":         trouble,
	"score":           score,
	"stars":           average,
	"row":             starRow,
	"day":             day,
	"ago":             ago,
	"short":           short,
	"seen":            seen,
	"small":           func(card *posts.Card) cover { return newCover(card, false) },
	"large":           func(card *posts.Card) cover { return newCover(card, true) },
	"few":             func(n int) bool { return n <= fewWorks },
	"rating":          rating,
	"rated":           rated,
	"ended":           ended,
	"until":           until,
	"count":           pages.Count,
	"noun":            pages.Noun,
	"figure":          figure,
	"face":            func(id uuid.UUID, avatar *string) string { return facePath(id, avatar, faceWidth) },
	"portrait":        portrait,
	"olderLookalikes": olderLookalikes,
	"scaled":          thumbnailPath,
	"sources":         sources,
	"heading":         heading,
	"verse":           verse,
	"look":            look,
	"pictured":        pictured,
	"others":          others,
	"filename":        filename,
	"filefacts":       fileFacts,
	"doing":           doing,
	"target":          target,
	"length":          length,
	"moment":          pages.Moment,
	"stamp":           func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"number":          func(i int) int { return i + 1 },
	"label":           label,
	"room":            roomFor,
	"narrow":          func(file *attachments.Card) bool { return isSmall(pictureWidth, file) },
}

// The pages by name, as HTML and as Markdown; each page defines the content of the layout.
var (
	htmlPages     = pages.Templates(templateFiles, functions, "templates/layout.html", "templates/parts.html")
	markdownPages = parseMarkdown()
)

func parseMarkdown() map[string]*plain.Template {
	all := map[string]*plain.Template{}
	for name := range htmlPages {
		if name != "parts" {
			all[name] = plain.Must(plain.New("layout.md").Funcs(functions).ParseFS(templateFiles, "templates/layout.md", "templates/"+name+".md"))
		}
	}
	return all
}

// prose returns the template function that renders a text of an agent within a budget, below a heading of a level.
func prose(budget, level int) func(s string, known map[string]bool) pages.Prose {
	return func(s string, known map[string]bool) pages.Prose { return pages.NewProse(s, budget, level, known) }
}

// render makes one of the forms of a page.
func (v *view) render(form string) (mediaType string, body []byte, err error) {
	var out bytes.Buffer
	switch form {
	case pages.JSON:
		err = wire.Write(&out, v.JSON)
		return pages.JSON, out.Bytes(), err
	case pages.Markdown:
		err = markdownPages[v.template].Execute(&out, v)
		return pages.Markdown + "; charset=utf-8", squeeze(out.Bytes()), err
	default:
		err = htmlPages[v.template].Execute(&out, v)
		return pages.HTML + "; charset=utf-8", out.Bytes(), err
	}
}

// squeeze reduces several empty lines to one, and leaves one line break at the end.
func squeeze(text []byte) []byte {
	for bytes.Contains(text, []byte("\n\n\n")) {
		text = bytes.ReplaceAll(text, []byte("\n\n\n"), []byte("\n\n"))
	}
	return append(bytes.TrimSpace(text), '\n')
}

// links returns the values of the Link header: the other forms of the page, and its feed.
func (v *view) links() []string {
	if v.Path == "" {
		return nil
	}
	alternate := func(path, mediaType string) string {
		return fmt.Sprintf(`<%s>; rel="alternate"; type="%s"`, path, mediaType)
	}
	all := []string{alternate(v.Path, pages.Markdown), alternate(v.Path, pages.JSON)}
	if v.Feed != "" {
		all = append(all, alternate(v.Feed, atomType))
	}
	return all
}

// credits formats an amount of minor units for people.
func credits(minor int64) string { return pages.Credits(minor, ",") }

// length returns the class of a heading: long headings are small, so that they do not fill a phone.
func length(heading string) string {
	if utf8.RuneCountInString(heading) > 60 {
		return "long"
	}
	return "short"
}

// Maximum size of a picture on a page, in pixels.
const roomWidth, roomHeight = 640, 480

// room is the size at which a picture is shown.
type room struct{ Width, Height int }

// roomFor returns the room for a picture, with its proportions; nil if its size is unknown.
func roomFor(file *attachments.Card) *room {
	if file.Width == nil || file.Height == nil {
		return nil
	}
	width, height := float64(*file.Width), float64(*file.Height)
	scale := min(1, roomWidth/width, roomHeight/height)
	return &room{int(max(1, math.Round(width*scale))), int(max(1, math.Round(height*scale)))}
}

// standing formats a reputation for people, such as "4.6 of 5 from 9 agents of 7 owners"; empty without ratings. It omits the
// owners if mail is not set up.
func standing(p ratings.Reputation) string {
	text := score(p.Score)
	switch {
	case text == "" || p.Owners == nil:
		return text
	case *p.Owners == 0:
		return text + " without a confirmed owner"
	default:
		return text + " of " + pages.Count(*p.Owners, "owner")
	}
}

// trouble returns the number of an agent's orders that are in dispute or late now, in words; empty if none are.
func trouble(p ratings.Reputation) string {
	if p.Disputed+p.Overdue == 0 {
		return ""
	}
	return pages.Count(p.Disputed, "order") + " in dispute, " + strconv.FormatInt(p.Overdue, 10) + " overdue"
}

// score formats a score for people; empty without ratings.
func score(s ratings.Score) string {
	if s.Average == nil {
		return ""
	}
	return average(s) + " of 5 from " + pages.Count(s.Counterparties, "agent")
}

// fileSize formats a size for people.
func fileSize(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return strconv.FormatFloat(float64(bytes)/(1<<20), 'f', 1, 64) + " MB"
	default:
		return strconv.FormatInt(max(1, bytes>>10), 10) + " KB"
	}
}

// labels has the words for kinds and states on pages.
var labels = map[string]string{"portfolio": "Portfolio", "update": "Update", "open": "Open", "selected": "Agent chosen", "closed": "Closed"}

func label(value string) string { return labels[value] }

// address returns a path with the query parameters that are set; page 1 has no parameter.
func address(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" && !(pairs[i] == "page" && value == "1") {
			query.Set(pairs[i], value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// pager has the addresses of the previous and the next page, empty for none.
type pager struct {
	Page           int
	Newer, Further string
}

// newPager makes a pager from a list's metadata and the address of the pages.
func newPager(meta page.Meta, at func(page string) string) pager {
	p := pager{Page: meta.Page}
	if meta.Page > 1 {
		p.Newer = at(strconv.Itoa(meta.Page - 1))
	}
	if meta.NextPage != nil {
		p.Further = at(strconv.Itoa(*meta.NextPage))
	}
	return p
}

// onPage adds the number of a page that is not the first to a title.
func onPage(title string, number int) string {
	if number <= 1 {
		return title
	}
	return title + ", page " + strconv.Itoa(number)
}

// sentence adds a full stop to a text that has none.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}
