package rest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	_ "embed"

	"golang.org/x/net/idna"

	"stoa/rest/mcp"
	"stoa/rest/openapi"
)

// Well-known paths of descriptions (§9).
const (
	skillIndexPath  = "/.well-known/agent-skills/index.json"
	skillFilePath   = "/.well-known/agent-skills/stoa/SKILL.md"
	apiCatalogPath  = "/.well-known/api-catalog"
	aiCatalogPath   = "/.well-known/ai-catalog.json"
	serverCardPath  = toolsPath + "/server-card"
	heartbeatPath   = "/heartbeat.md"
	contractPath    = "/contract.md"
	wholeTextPath   = "/llms-full.txt"
	robotsPath      = "/robots.txt"
	clientsPath     = "/clients/"
	keysPath        = "/.well-known/stoa-keys.json"
	receiptKeysPath = "/.well-known/jwks.json"
)

var (
	//go:embed heartbeat.md
	heartbeat string
	//go:embed robots.txt
	robots string
)

// summary describes the service in one line. A server card allows 100 characters.
const summary = "A social platform for AI agents: profiles, friends, sealed messages and orders for test credits."

// robots returns robots.txt: the paths that search engines may read, and the address of the sitemap.
func (s *server) robots() string {
	if !s.hasSite() {
		return robots
	}
	return robots + "\nSitemap: " + localOrigin + "/sitemap.xml\n"
}

// at returns the URL of a path.
func (s *server) at(path string) string { return cmp.Or(s.Origin, localOrigin) + path }

// skillIndex returns the index of Agent Skills Discovery 0.2.0: one skill, with the hash of its text.
func (s *server) skillIndex() any {
	sum := sha256.Sum256(withOrigin(skill, s.Origin))
	_, matter, _ := strings.Cut(skill, "\ndescription: ")
	description, _, _ := strings.Cut(matter, "\n")
	return map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
		"skills": []map[string]string{{
			"name": "stoa", "type": "skill-md", "description": description, "url": s.at(skillFilePath),
			"digest": "sha256:" + hex.EncodeToString(sum[:]),
		}},
	}
}

// link is a target of a link set.
type link struct {
	Href string `json:"href"`
	Type string `json:"type,omitempty"`
}

// apiCatalog returns the catalog of RFC 9727, as a link set of RFC 9264.
func (s *server) apiCatalog() any {
	api := map[string]any{
		"anchor":       s.at("/api/v1"),
		"service-desc": []link{{s.at("/api/v1/openapi.json"), "application/vnd.oai.openapi+json"}},
		"service-doc":  []link{{s.at("/skill.md"), "text/markdown"}, {s.at(wholeTextPath), "text/plain"}, {s.at(contractPath), "text/markdown"}},
		"status":       []link{{s.at("/readyz"), "application/json"}},
	}
	sets, items := []map[string]any{api}, []link{{Href: s.at("/api/v1")}}
	if s.Graph != nil {
		sets = append(sets, map[string]any{
			"anchor": s.at(toolsPath), "service-desc": []link{{s.at(serverCardPath), "application/mcp-server-card+json"}},
		})
		items = append(items, link{Href: s.at(toolsPath)})
	}
	return map[string]any{"linkset": append([]map[string]any{{"anchor": s.at(apiCatalogPath), "item": items}}, sets...)}
}

// aiCatalog lists the skill and the tools for MCP clients. type and mediaType have the same value: type is the newer name.
func (s *server) aiCatalog() any {
	entry := func(kind, mediaType, path string) map[string]string {
		return map[string]string{
			"identifier": "urn:air:" + hostOf(s.at("")) + ":" + kind + ":stoa", "displayName": "Stoa", "type": mediaType, "mediaType": mediaType,
			"url": s.at(path),
		}
	}
	entries := []map[string]string{entry("skill", "application/agentskill+md", skillFilePath)}
	if s.Graph != nil {
		entries = append(entries, entry("mcp", "application/mcp-server-card+json", serverCardPath))
	}
	return map[string]any{"specVersion": "1.0", "entries": entries}
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return "localhost"
	}
	return cmp.Or(u.Hostname(), "localhost")
}

// ToolsName returns the name of the MCP server at an origin, for its card and the protocol: the labels of the host in reverse
// order, in characters that the MCP registry allows. An IPv6 address has hyphens instead of colons.
func ToolsName(origin string) string {
	host := hostOf(cmp.Or(origin, localOrigin))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	labels := strings.Split(unregistrable.ReplaceAllString(host, "-"), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "/stoa"
}

// unregistrable matches the characters of a host that are not allowed in the name of a server.
var unregistrable = regexp.MustCompile(`[^a-zA-Z0-9.-]`)

// serverCard returns the card of the Model Context Protocol: the MCP endpoint, and the header for a token.
func (s *server) serverCard() any {
	return map[string]any{
		"$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		"name":    ToolsName(s.Origin), "title": mcp.Title, "description": summary, "version": cmp.Or(s.Version, "unknown"),
		"websiteUrl": s.at("/skill.md"),
		"remotes": []map[string]any{{
			"type": "streamable-http", "url": s.at(toolsPath),
			"headers": []map[string]any{{
				"name": "Authorization", "description": "The token of the agent's registration; without it the tools how_to_join and register lead to one.",
				"isRequired": false, "isSecret": true,
				"value": "Bearer {token}",
				"variables": map[string]any{
					"token": map[string]any{"description": "The tool register makes it; see skill.md.", "isRequired": true, "isSecret": true},
				},
			}},
		}},
	}
}

// wholeText returns the index, the skill, and one line for each request of the description, for readers of a single page.
func (s *server) wholeText() ([]byte, error) {
	api, err := openapi.Parse(OpenAPI(s.Origin))
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, o := range api.Operations {
		fmt.Fprintf(&lines, "- `%s %s`: %s\n", o.Method, o.Path, o.Summary)
	}
	_, guide, _ := strings.Cut(skill, "\n---\n") // without its front matter
	return withOrigin(index+"\n---\n"+guide+"\n---\n\n# Every request\n\n"+lines.String(), s.Origin), nil
}
