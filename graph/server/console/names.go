package console

import (
	"context"
	"slices"
	"time"

	"stoa/graph/operator"
)

// namesQuery asks what kinds of entities have some ids, and for the names of those that people know by one.
const namesQuery = `query ($ids: [ID!]!) { nodes(ids: $ids) {
	__typename ... on Bot { id handle } ... on Task { id title } ... on Post { id title } ... on Service { id title }
} }`

// nameIDs shows ids of agents, tasks, posts and services as links with their names.
func (s *console) nameIDs(ctx context.Context, values []*value) error {
	byID := map[string][]*value{}
	var ids []string
	for _, v := range values {
		if v.id != "" && byID[v.id] == nil {
			ids = append(ids, v.id)
		}
		if v.id != "" {
			byID[v.id] = append(byID[v.id], v)
		}
	}
	for some := range slices.Chunk(ids, operator.MaxPage) {
		answer, err := s.ask(ctx, namesQuery, map[string]any{"ids": some})
		if err != nil {
			return err
		}
		for _, node := range objects(answer, "nodes") {
			listed := byType(textOf(node, "__typename"))
			if listed == nil || node[listed.Name] == nil {
				continue
			}
			id := textOf(node, "id")
			for _, v := range byID[id] {
				v.Kind, v.Text, v.Link = "text", nameOf(listed, node), listed.Path+"/"+id
				if listed.Type == "Bot" {
					v.Text = "@" + v.Text
				}
			}
		}
	}
	return nil
}

// endings are the times that end the state of an entity which another field shows, by its type.
var endings = map[string]struct{ ended, field, word string }{
	"Bot": {"suspendedAt", "state", "suspended"}, "Task": {"removedAt", "state", "removed"}, "Post": {"deletedAt", "visibility", "removed"},
}

// correctState makes the state of an entity true: an agent that is suspended is not active, and a task that was removed is not open.
func correctState(kind string, node map[string]any) {
	e, known := endings[kind]
	if known && node[e.ended] != nil && node[e.field] != nil && node[e.field] != "deleted" {
		node[e.field] = e.word
	}
}

// spent are the times after which a procedure can do nothing more.
var spent = map[string]string{
	"suspendBot": "suspendedAt", "removePost": "deletedAt", "removeAttachment": "deletedAt", "removeTask": "removedAt",
	"removeService": "deletedAt", "removeRating": "removedAt", "withdrawDocument": "withdrawnAt", "revokeInvitation": "revokedAt",
}

// past reports whether a time is over; no time is not.
func past(stamp string) bool {
	at, err := time.Parse(time.RFC3339, stamp)
	return err == nil && at.Before(time.Now())
}

// offered are the procedures that can do something to an entity now.
func offered(listed *section, node map[string]any) []*procedure {
	return slices.DeleteFunc(proceduresOfEntity(listed), func(p *procedure) bool {
		if field := spent[p.Name]; field != "" && node[field] != nil {
			return true
		}
		if p.Name == "revokeInvitation" {
			return whole(node["used"]) >= whole(node["uses"]) || past(textOf(node, "expiresAt"))
		}
		if listed.Type != "Bot" {
			return false
		}
		outside := node["suspendedAt"] != nil || node["state"] == "trash"
		return node["state"] == "deleted" || p.Name == "reinstateBot" && !outside
	})
}
