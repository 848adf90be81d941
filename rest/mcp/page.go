package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sizeInPage is the least page number that names the size of its page too: 25000002 is the second page of 25 records. A list that was cut
// leads on with such numbers, since a model that sends next_page back may send its own page_size or none.
const sizeInPage = 1_000_000

// splitPage takes the size out of such a page number, and reports whether there is one.
func splitPage(arguments object) bool {
	page, err := strconv.Atoi(string(as[json.Number](arguments["page"])))
	if err != nil || page < sizeInPage {
		return false
	}
	arguments["page"], arguments["page_size"] = page%sizeInPage, page/sizeInPage
	return true
}

// records is how many records the answer to a call may have, as far as that matters (recordsAtOnce).
func (b *built) records(arguments json.RawMessage) int64 {
	var asked struct {
		Page     int64 `json:"page"`
		PageSize int64 `json:"page_size"`
		Limit    int64 `json:"limit"`
	}
	_ = json.Unmarshal(arguments, &asked) // what is wrong with them is found later
	return min(max(b.usual, asked.Page/sizeInPage, asked.PageSize, asked.Limit), recordsAtOnce)
}

// paged is an answer with one list of several.
type paged struct {
	// list is the member with the records, empty if the answer is no such list; next the one that says where others are.
	list, next string
}

func pageOf(answer object) paged {
	for _, next := range []string{"next_page", "next_before", "more"} {
		if _, ok := answer[next]; !ok {
			continue
		}
		for name, value := range answer {
			if _, ok := value.([]any); ok {
				return paged{name, next}
			}
		}
	}
	return paged{}
}

// cut puts the records that fit into a list that had perhaps more. sized says that the page was asked for by a number with its size.
func (p paged) cut(answer object, fitting []any, sized bool) {
	all := as[[]any](answer[p.list])
	kept, more := len(fitting), len(fitting) < len(all)
	switch {
	case p.next == "next_page":
		page, size := number(answer["page"]), number(answer["page_size"])
		if more {
			for size%kept != 0 { // the pages of the new size begin where those of the old one do
				kept--
			}
			page, size, sized = (page-1)*(size/kept)+1, kept, true
			answer["page_size"], answer["next_page"] = size, page+1
		}
		if sized {
			answer["page"] = size*sizeInPage + page
			if answer["next_page"] != nil {
				answer["next_page"] = size*sizeInPage + page + 1
			}
		}
	case more && p.next == "next_before":
		answer["next_before"] = as[object](all[kept-1])["id"]
	case more:
		answer["more"] = true
	}
	answer[p.list] = fitting[:kept]
}

func number(value any) int {
	n, _ := strconv.Atoi(string(as[json.Number](value)))
	return n
}

// note says in a line what an answer holds.
func (p paged) note(answer object) string {
	if answer["replayed"] == true {
		return "This is the stored answer of an earlier call that was the same; now is the record as it is now."
	}
	if p.list == "" {
		return strings.Join(slices.Sorted(maps.Keys(answer)), ", ") + "."
	}
	return fmt.Sprintf("%d %s; %s is %s.", len(as[[]any](answer[p.list])), p.list, p.next, encode(answer[p.next]))
}
