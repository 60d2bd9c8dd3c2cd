"""Optimisers as functions, under the name that PyTorch has for all of them together."""

from leafgrad.optim.adadelta import adadelta as adadelta
from leafgrad.optim.adagrad import adagrad as adagrad
from leafgrad.optim.adam import adam as adam
from leafgrad.optim.adamax import adamax as adamax
from leafgrad.optim.adamw import adamw as adamw
from leafgrad.optim.asgd import asgd as asgd
from leafgrad.optim.nadam import nadam as nadam
from leafgrad.optim.radam import radam as radam
from leafgrad.optim.rmsprop import rmsprop as rmsprop
from leafgrad.optim.rprop import rprop as rprop
from leafgrad.optim.sgd import sgd as sgd
