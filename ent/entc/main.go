// Command entc generates the data layer in the folder ent and the operators' half of the GraphQL schema; it runs in the root folder.
package main

import (
	"bytes"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"strings"

	"entgo.io/contrib/entgql"
	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
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
			gen.MustParse(gen.NewTemplate("explorer").Funcs(entgql.TemplateFuncs).ParseFiles("ent/entc/explorer.tmpl")),
		},
		Hooks: []gen.Hook{withoutEntgql},
	}
	// The tag brings the annotations of entgql into the schema (ent/schema/annotations_entgql.go).
	if err := entc.Generate("./ent/schema", config, entc.Extensions(extension), entc.BuildTags("entgql")); err != nil {
		log.Fatalf("ent: %v", err)
	}
}

// withoutEntgql has the generated code import stoa/ent/relay in the place of entgql.
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
			text = bytes.Replace(text, []byte(`"entgo.io/contrib/entgql"`), []byte(`"stoa/ent/relay"`), 1)
			text = bytes.ReplaceAll(text, []byte("entgql."), []byte("relay."))
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
