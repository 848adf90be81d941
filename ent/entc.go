//go:build ignore

// Command entc generates the data layer in this folder and the operators' half of the GraphQL schema.
package main

import (
	"log"

	"entgo.io/contrib/entgql"
	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
)

func main() {
	extension, err := entgql.NewExtension(
		entgql.WithSchemaGenerator(),
		entgql.WithSchemaPath("../graph/ent.graphql"),
		entgql.WithConfigPath("../gqlgen.yml"),
		entgql.WithWhereInputs(true),
		entgql.WithNodeDescriptor(false),
	)
	if err != nil {
		log.Fatalf("entgql: %v", err)
	}
	config := &gen.Config{
		Features: []gen.Feature{gen.FeatureLock},
	}
	if err := entc.Generate("./schema", config, entc.Extensions(extension)); err != nil {
		log.Fatalf("ent: %v", err)
	}
}
