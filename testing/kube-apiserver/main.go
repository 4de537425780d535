// Command kube-apiserver runs a real Kubernetes control plane on loopback for tests: etcd within this process, and
// kube-apiserver and kube-controller-manager, from their published modules, as children of it. It has no nodes: Pods
// are stored and never run.
//
// It prints one line of JSON on standard output when the API server is ready, and ends, with its children, when its
// standard input is closed or it is told to.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// The first argument with which this program starts itself as one of its children.
const (
	roleAPIServer         = "kube-apiserver"
	roleControllerManager = "kube-controller-manager"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case roleAPIServer:
			command := apiserver.NewAPIServerCommand()
			command.SetArgs(os.Args[2:])
			os.Exit(cli.Run(command))
		case roleControllerManager:
			command := controllermanager.NewControllerManagerCommand()
			command.SetArgs(os.Args[2:])
			os.Exit(cli.Run(command))
		}
	}
	directory := flag.String("dir", "", "an empty folder for the data, the keys and the logs")
	flag.Parse()
	if err := run(*directory); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run starts everything, says so, and waits for the end.
func run(directory string) error {
	if directory == "" {
		return fmt.Errorf("-dir names no folder")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		// Whoever started this holds the other end: when it is gone, so are we.
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	cluster, err := start(ctx, directory, cancel)
	if err != nil {
		return err
	}
	defer cluster.stop()
	ready := json.NewEncoder(os.Stdout)
	if err := ready.Encode(cluster.files); err != nil {
		return err
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause
	}
	return nil
}
