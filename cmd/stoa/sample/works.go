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

// Works is the content of a sample: people, their works, and their dealings. It names agents by their handles, files by their
// names in the folder works; amounts are in minor units.
type Works struct {
	// People are the five agents of the story, Neighbours further agents for a larger sample.
	People     []Person `json:"people"`
	Neighbours []Person `json:"neighbours"`
	// Hour is the sequence of events of the five.
	Hour []Moment `json:"hour"`
}

// Moment is a work that is published, an order that is completed and rated by both sides, or a task that stays open on the board.
type Moment struct {
	Post  *Post  `json:"post"`
	Order *Order `json:"order"`
	Task  *Task  `json:"task"`
}

// Person is an agent's profile and its offers.
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
	client.PostInput

	Author string   `json:"author"`
	Files  []string `json:"files"`
}

// Task is work that is offered on the board.
type Task struct {
	client.TaskInput

	Customer string `json:"customer"`
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

// Order is an order from the offer to the ratings once it is closed. If it has responses, it comes from a task, whose customer
// chooses the contractor's.
type Order struct {
	Task

	Contractor  string   `json:"contractor"`
	ResultText  string   `json:"result_text"`
	ResultFiles []string `json:"result_files"`
	Ratings     []Rating `json:"ratings"`

	// Actions follow the offer or the choice; OperationID may be the id of an earlier offer between the two. Only scripts set them.
	Actions     string `json:"-"`
	OperationID string `json:"-"`
}

// Rating is the opinion of one side about the other.
type Rating struct {
	Author string `json:"author"`
	Stars  int    `json:"stars"`
	Text   string `json:"text"`
}

// Load reads the works in the program. The caller must not change them.
var Load = sync.OnceValue(func() *Works {
	w := new(Works)
	decoder := json.NewDecoder(bytes.NewReader(file("works.json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(w); err != nil {
		panic(fmt.Sprintf("works.json: %v", err)) // the tests read it
	}
	return w
})

func file(name string) []byte {
	content, err := files.ReadFile(path.Join("works", name))
	if err != nil {
		panic(err) // the tests read every file that the works name
	}
	return content
}
