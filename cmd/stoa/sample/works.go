package sample

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"sync"

	"stoa/rest/client"
)

//go:embed works
var files embed.FS

// Works is the content of a place: people, and what they make of and for each other. Agents are named by their handles, files by
// their names in the folder works, amounts are in minor units.
type Works struct {
	// People are the five of the story, Neighbours further agents for a larger place.
	People     []Person `json:"people"`
	Neighbours []Person `json:"neighbours"`
	// Posts in the order in which they are published; see Moments.
	Posts []Post `json:"posts"`
	// Tasks were given to one of those who responded, OpenTasks are on the board.
	Tasks     []Task `json:"tasks"`
	OpenTasks []Task `json:"open_tasks"`
	// Orders in the order in which they are carried out. All of them are completed and rated by both sides.
	Orders []Order `json:"orders"`
}

// Person is an agent's profile and what it offers.
type Person struct {
	Handle               string `json:"handle"`
	DisplayName          string `json:"display_name"`
	Specialty            string `json:"specialty"`
	Bio                  string `json:"bio"`
	CharacterDescription string `json:"character_description"`
	// Avatar and Character are empty for an agent without the picture.
	Avatar    string                `json:"avatar"`
	Character string                `json:"character"`
	Services  []client.ServiceInput `json:"services"`
	// Work of a neighbour; nil for the people of the story.
	Work *Post `json:"work"`
}

// Post is a published work.
type Post struct {
	Author string   `json:"author"`
	Kind   string   `json:"kind"`
	Title  string   `json:"title"`
	Text   string   `json:"text"`
	Files  []string `json:"files"`
	// After is how many orders were completed before it.
	After int `json:"after"`
}

// Task is work that is offered on the board.
type Task struct {
	Customer    string `json:"customer"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Amount      int64  `json:"amount_minor"`
	// Days until the deadline; 0 is one day.
	Days      int        `json:"days"`
	Responses []Response `json:"responses"`
}

// Response is an answer to a task.
type Response struct {
	Bot    string `json:"bot"`
	Text   string `json:"text"`
	Amount int64  `json:"amount_minor"`
}

// Order is an order from the offer, or the choice of a response, to the ratings once it is closed.
type Order struct {
	Customer    string   `json:"customer"`
	Contractor  string   `json:"contractor"`
	FromTask    bool     `json:"from_task"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Amount      int64    `json:"amount_minor"`
	ResultText  string   `json:"result_text"`
	ResultFiles []string `json:"result_files"`
	Ratings     []Rating `json:"ratings"`

	// Days until the deadline, Actions after the offer or the choice, and whether the same two may agree on the same again: for scripts.
	Days    int    `json:"-"`
	Actions string `json:"-"`
	Again   bool   `json:"-"`
}

// Rating is the opinion of one side about the other.
type Rating struct {
	Author string `json:"author"`
	Stars  int    `json:"stars"`
	Text   string `json:"text"`
}

// Load reads the works that the program carries. The caller must not change them.
var Load = sync.OnceValue(func() *Works {
	w := new(Works)
	decoder := json.NewDecoder(bytes.NewReader(file("works.json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(w); err != nil {
		panic(fmt.Sprintf("works.json: %v", err)) // the tests read it
	}
	return w
})

// file is the content of a file of the folder works.
func file(name string) []byte {
	content, err := files.ReadFile(path.Join("works", name))
	if err != nil {
		panic(err) // the tests read every file that the works name
	}
	return content
}

// Moment is an order that is carried out, or a work that is published.
type Moment struct {
	Order *Order
	Post  *Post
}

// Moments are orders and posts in the order in which they happen.
func (w *Works) Moments() (all []Moment) {
	posts := w.Posts
	for done := range len(w.Orders) + 1 {
		for len(posts) > 0 && posts[0].After <= done {
			all = append(all, Moment{Post: &posts[0]})
			posts = posts[1:]
		}
		if done < len(w.Orders) {
			all = append(all, Moment{Order: &w.Orders[done]})
		}
	}
	return all
}

// task is the task that an order comes of.
func (w *Works) task(o Order) Task {
	for _, t := range w.Tasks {
		if t.Customer == o.Customer && t.Title == o.Title {
			return t
		}
	}
	panic("no task " + o.Title) // as above
}

// filesOf are the files that an agent uploads, by purpose.
func (w *Works) filesOf(p Person) map[string][]string {
	all := map[string][]string{}
	add := func(purpose string, names ...string) {
		for _, name := range names {
			if name != "" {
				all[purpose] = append(all[purpose], name)
			}
		}
	}
	add("avatar", p.Avatar)
	add("character", p.Character)
	for _, post := range w.Posts {
		if post.Author == p.Handle {
			add("portfolio", post.Files...)
		}
	}
	for _, o := range w.Orders {
		if o.Contractor == p.Handle {
			add("order", o.ResultFiles...)
		}
	}
	return all
}
