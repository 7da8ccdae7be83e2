// Helm, as its own main starts it.
package main

import (
	"fmt"
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
)

func main() {
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// It says itself what went wrong.
	if command.Execute() != nil {
		os.Exit(1)
	}
}
