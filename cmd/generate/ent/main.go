// Command ent generates the data layer in ent and the operators' half of the GraphQL schema; run it in the root folder. It is in a
// module of its own, so that the server's go.mod has no generators.
package main

import (
	"bytes"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"entgo.io/contrib/entgql"
	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
	graphql "github.com/vektah/gqlparser/v2/ast"
)

func main() {
	extension, err := entgql.NewExtension(
		entgql.WithSchemaGenerator(),
		entgql.WithSchemaPath("graph/ent.graphql"),
		entgql.WithConfigPath("gqlgen.yml"),
		entgql.WithWhereInputs(true),
		entgql.WithSchemaHook(withOfferedFilters),
		entgql.WithNodeDescriptor(false),
	)
	if err != nil {
		log.Fatalf("entgql: %v", err)
	}
	config := &gen.Config{
		Features: []gen.Feature{gen.FeatureLock},
		Templates: []*gen.Template{
			gen.MustParse(gen.NewTemplate("explorer").Funcs(entgql.TemplateFuncs).ParseFiles("cmd/generate/ent/explorer.tmpl")),
		},
		Hooks: []gen.Hook{withoutEntgql},
	}
	if err := entc.Generate("./ent/schema", config, entc.Extensions(extension)); err != nil {
		log.Fatalf("ent: %v", err)
	}
}

// ofRelay replaces the libraries of generated code by stoa/ent/relay.
var ofRelay = strings.NewReplacer(`"entgo.io/contrib/entgql"`, `"stoa/ent/relay"`, "entgql.", "relay.",
	"\t\"github.com/hashicorp/go-multierror\"\n", "", "multierror.", "relay.")

// withoutEntgql makes the generated code import stoa/ent/relay instead of entgql and of go-multierror.
func withoutEntgql(next gen.Generator) gen.Generator {
	return gen.GenerateFunc(func(g *gen.Graph) error {
		if err := next.Generate(g); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(g.Target, "gql_*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text = []byte(ofRelay.Replace(string(text)))
			if strings.HasSuffix(file, "gql_where_input.go") {
				text, err = withoutOtherFilters(text)
			} else {
				text, err = format.Source(text)
			}
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // as ent writes its files
				return err
			}
		}
		return nil
	})
}

const whereSuffix = "WhereInput"

// filters lists, for each entity, the conditions by which operators may filter: the ones that the console and the operators'
// command line offer. Every entity also has not, and, or, an equal id, and bounds of its creation time. A test of the console
// finds conditions that no page offers any more.
var filters = map[string]string{
	"Account":    "hasBotWith",
	"Attachment": "status purpose boundKind deletedAtIsNil deletedAtNotNil mediaTypeContainsFold hasOwnerWith",
	"AuditEntry": "operator procedure target operatorContainsFold procedureContainsFold targetContainsFold reasonContainsFold",
	"Bot": "handle handleContainsFold displayNameContainsFold specialtyContainsFold state suspendedAtIsNil suspendedAtNotNil " +
		"emailVerifiedAtIsNil emailVerifiedAtNotNil profilePublic profilePublicNEQ isDemo isDemoNEQ",
	"Contact":     "state hasRequesterWith hasRecipientWith",
	"Document":    "withdrawnAtIsNil withdrawnAtNotNil titleContainsFold keyContainsFold textContainsFold",
	"Event":       "kind",
	"Feedback":    "kind state subjectType textContainsFold hasBotWith hasSubjectBotWith",
	"Invitation":  "revokedAtIsNil revokedAtNotNil noteContainsFold",
	"LedgerEntry": "kind accountKind",
	"Mail": "kind sentAtIsNil sentAtNotNil refusedAtIsNil refusedAtNotNil expiredAtIsNil expiredAtNotNil attemptsGT " +
		"addressHintContainsFold lastErrorContainsFold hasBotWith",
	"Message": "",
	"Order": "state stateIn outcome refundProposedAtIsNil refundProposedAtNotNil closedAtGTE disputedAtGTE updatedAtLT " +
		"deadlineLT hasCustomerWith hasContractorWith",
	"Post":            "kind visibility deletedAtIsNil deletedAtNotNil titleContainsFold textContainsFold hasAuthorWith",
	"Rating":          "stars removedAtIsNil removedAtNotNil textContainsFold hasAuthorWith hasSubjectWith",
	"Response":        "state hasTaskWith hasBotWith",
	"Reward":          "ground hasBotWith",
	"Service":         "deletedAtIsNil deletedAtNotNil titleContainsFold descriptionContainsFold hasBotWith",
	"Task":            "state removedAtIsNil removedAtNotNil titleContainsFold descriptionContainsFold hasCustomerWith",
	"Webhook":         "state stateIn signing prompt promptNEQ hostContainsFold hasBotWith",
	"WebhookDelivery": "errorContainsFold hasWebhookWith",
}

// offers reports whether a condition is one that operators may filter by.
func offers(entity, condition string) bool {
	always := []string{"not", "and", "or", "id", "createdAtGTE", "createdAtLT"}
	return slices.Contains(always, condition) || strings.HasSuffix(condition, "ID") ||
		slices.Contains(strings.Fields(filters[entity]), condition)
}

// withOfferedFilters leaves all other conditions out of the GraphQL schema.
func withOfferedFilters(_ *gen.Graph, schema *graphql.Schema) error {
	for name, input := range schema.Types {
		if entity, found := strings.CutSuffix(name, whereSuffix); found {
			input.Fields = slices.DeleteFunc(input.Fields, func(f *graphql.FieldDefinition) bool { return !offers(entity, f.Name) })
		}
	}
	return nil
}

// filterParts matches the parts of the generated file that withoutOtherFilters examines: the type of an entity's filter, a
// condition's field, the statement of the method P that uses a field, and a comment. Most comments name removed conditions.
var filterParts = regexp.MustCompile("(?ms)^type (\\w+)WhereInput struct|^\\t(\\w+) [^\\n]*`json:\"(\\w+),omitempty\"`\\n|" +
	"^\\tif [^\\n]*\\bi\\.(\\w+)\\b.*?^\\t}\\n|^[\\t ]*//[^\\n]*\\n")

// withoutOtherFilters leaves all other conditions out of the generated file.
func withoutOtherFilters(text []byte) ([]byte, error) {
	var entity string
	var dropped []string
	kept := filterParts.ReplaceAllFunc(text, func(part []byte) []byte {
		found := filterParts.FindSubmatch(part)
		field, condition, used := string(found[2]), string(found[3]), string(found[4])
		switch {
		case found[1] != nil:
			entity, dropped = string(found[1]), nil
		case found[3] != nil && !offers(entity, condition):
			dropped = append(dropped, field)
			return nil
		case found[4] != nil && slices.Contains(dropped, used), bytes.HasPrefix(bytes.TrimSpace(part), []byte("//")):
			return nil
		}
		return part
	})
	return format.Source(append([]byte("// Code generated by ent, DO NOT EDIT.\n\n"), kept...))
}
