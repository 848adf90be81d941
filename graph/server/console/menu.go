package console

import "stoa/docs"

// menuGroup is a part of the navigation.
type menuGroup struct {
	Title   string
	Entries []menuEntry
}

type menuEntry struct {
	Path, Title string
	Current     bool
}

// menu is the navigation of a page, which belongs to the entry at a path.
func (s *console) menu(current string) []menuGroup {
	groups := []menuGroup{{"Console", []menuEntry{
		{Path: "/now", Title: "Now"}, {Path: "/", Title: "Overview"}, {Path: booksPath, Title: "Books"},
	}}}
	at := make(map[string]int)
	for _, listed := range sections {
		i, known := at[listed.Group]
		if !known {
			i = len(groups)
			at[listed.Group] = i
			groups = append(groups, menuGroup{Title: listed.Group})
		}
		groups[i].Entries = append(groups[i].Entries, menuEntry{Path: listed.Path, Title: listed.Title})
	}
	operating := &groups[at[groupOperating]]
	operating.Entries = append([]menuEntry{
		{Path: settingsPath, Title: "Settings"}, {Path: maintenancePath, Title: "Maintenance"},
	}, operating.Entries...)
	tools := menuGroup{"Tools", []menuEntry{{Path: docs.Path, Title: "Documentation"}}}
	for _, tool := range s.Tools {
		if tool.Title != "" {
			tools.Entries = append(tools.Entries, menuEntry{Path: tool.Path, Title: tool.Title})
		}
	}
	groups = append(groups, tools)
	for _, group := range groups {
		for i := range group.Entries {
			group.Entries[i].Current = group.Entries[i].Path == current
		}
	}
	return groups
}
