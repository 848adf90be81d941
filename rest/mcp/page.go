package mcp

import (
	"encoding/json"
)

// records is how many records the answer to a call may have, as far as that matters (recordsAtOnce).
func (b *built) records(arguments json.RawMessage) int64 {
	var asked struct {
		PageSize int64 `json:"page_size"`
		Limit    int64 `json:"limit"`
	}
	_ = json.Unmarshal(arguments, &asked) // what is wrong with them is found later
	return min(max(b.usual, asked.PageSize, asked.Limit), recordsAtOnce)
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

// cut puts the records that fit into a list that had perhaps more, and reports whether the rest can be read. Pages hold cards, which always
// fit.
func (p paged) cut(answer object, fitting []any) (ok bool) {
	all := as[[]any](answer[p.list])
	if len(fitting) < len(all) {
		switch p.next {
		case "next_before":
			answer["next_before"] = as[object](all[len(fitting)-1])["id"]
		case "more":
			answer["more"] = true
		default:
			return false
		}
	}
	answer[p.list] = fitting
	return true
}
