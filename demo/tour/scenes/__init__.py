"""The scenes, in the order in which they are played; each stands in a module of its own."""

from demo.tour.scenes.a_question import A_QUESTION
from demo.tour.scenes.confirmed_refund import CONFIRMED_REFUND
from demo.tour.scenes.correction import CORRECTION
from demo.tour.scenes.lost_response import LOST_RESPONSE
from demo.tour.scenes.order_status import ORDER_STATUS
from demo.tour.scenes.takeover import TAKEOVER
from demo.tour.scenes.two_tabs import TWO_TABS

SCENES = (ORDER_STATUS, CONFIRMED_REFUND, LOST_RESPONSE, TAKEOVER, CORRECTION, TWO_TABS, A_QUESTION)
